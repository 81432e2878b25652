// Package render runs the scripts of a page in a browser.
//
// In: a page as the server sent it, and a function that makes a request. Out: the HTML that
// the scripts have left.
//
// The browser makes no request by itself. Each one stops at the protocol's Fetch domain: the
// page is answered with the body at hand; scripts and their data are asked for through the
// caller, one at a time; images, styles, fonts, media, beacons, sockets and trackers are
// refused. A proxy that does not exist refuses what might pass by.
//
// One process serves all pages, each in a context of its own. It starts anew when it is old or
// large. A crash costs the pages under way. A record in the store's folder names the process,
// so that the next start ends what a kill has left.
//
// Files: browser.go the process, its start and its end; process*.go processes of the system;
// page.go one page; traffic.go its requests.
package render
