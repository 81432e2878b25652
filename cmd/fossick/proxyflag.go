package main

import (
	"errors"
	"net/url"
)

// noPassword stands in a store where a proxy's password was; url.URL.Redacted
// puts it there.
const noPassword = "xxxxx"

// parseProxy reads --proxy. What is wrong with it is told without quoting it, for
// it may have a password.
func parseProxy(text string) (*url.URL, error) {
	proxy, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // the whole error has the URL
		}
		var escape url.EscapeError
		if errors.As(err, &escape) {
			err = errors.New("a % that begins no escape; write it as %25")
		}
		return nil, usagef("--proxy: not a URL: %w; give it as http://USER:PASSWORD@HOST:PORT, special characters escaped by %%", err)
	}
	if password, _ := proxy.User.Password(); password == noPassword {
		return nil, usagef("--proxy %s: the password is not kept in a store; give --proxy (or FOSSICK_PROXY) again with it", proxy)
	}
	return proxy, nil
}

// redactProxy returns a proxy's URL without its password.
func redactProxy(text string) string {
	proxy, err := url.Parse(text)
	if err != nil {
		return "" // cannot be: parseProxy took it
	}
	return proxy.Redacted()
}
