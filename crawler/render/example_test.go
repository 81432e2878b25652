package render_test

import (
	"context"
	"fmt"
	"net/http"

	"fossick/crawler/fetch"
	"fossick/crawler/render"
)

// The page's script asks for nothing, so Ask is never called.
func ExampleBrowser_Render() {
	b, err := render.New(context.Background(), render.Options{Dir: "store"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	result, err := b.Render(context.Background(), render.Page{
		URL:    "https://example.com/",
		Header: http.Header{"Content-Type": {"text/html"}},
		Body:   []byte(`<title></title><script>document.title = "made here"</script>`),
		Ask:    func(context.Context, string) *fetch.Response { return nil },
	})
	fmt.Println(string(result.HTML), err)
}
