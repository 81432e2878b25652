package crawler

import (
	"fmt"
	"testing"
)

// mine is a chain of pages, first rich ones with gold, then barren ones.
func mine(rich, barren int) *fakeWeb {
	w := &fakeWeb{pages: map[string]string{}}
	for i := range rich + barren {
		text := fmt.Sprint("gold vein ", i)
		if i >= rich {
			text = fmt.Sprint("a stone ", i)
		}
		w.pages[fmt.Sprintf("http://a.test/%s", pageName(i))] = html(text, "/"+pageName(i+1))
	}
	return w
}

// pageName names a page without digits, which would look like a calendar.
func pageName(n int) string {
	s := ""
	for ; n > 0; n /= 26 {
		s = string(rune('a'+n%26)) + s
	}
	return "p" + s
}

func TestMinHarvestEndsACrawl(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		rich, barren int
		least        float64
		stop         Stop
		pages        uint64
	}{
		{"used up", 150, 850, 0.1, StopMinHarvest, 360},
		{"rich", 1000, 0, 0.1, StopEmpty, 1000},
		{"no limit", 150, 850, 0, StopEmpty, 1000},
		{"too small to tell", 0, 190, 0.5, StopEmpty, 190},
		{"never any", 0, 600, 0.5, StopMinHarvest, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := newOptions(t, mine(c.rich, c.barren), "http://a.test/"+pageName(0))
			opt.MinHarvest, opt.FollowTraps = c.least, true
			r := crawl(t, opt)
			if r.Stopped != c.stop || r.Counts.Pages != c.pages {
				t.Errorf("%s after %d pages, next %+v; want %s after %d", r.Stopped, r.Counts.Pages, r.Next, c.stop, c.pages)
			}
		})
	}
}

// TestMinHarvestAfterResume: sessions end where one crawl does, and a resumed ended crawl at
// once.
func TestMinHarvestAfterResume(t *testing.T) {
	w := mine(150, 850)
	opt := newOptions(t, w, "http://a.test/"+pageName(0))
	opt.MinHarvest, opt.FollowTraps = 0.1, true
	var r Result
	for opt.MaxPages = 70; opt.MaxPages < 1000; opt.MaxPages += 70 {
		opt.Progress = nil
		if r = crawl(t, opt); r.Stopped != StopMaxPages {
			break
		}
	}
	if r.Stopped != StopMinHarvest || r.Counts.Pages != 360 {
		t.Errorf("%s after %d pages, want min_harvest after 360", r.Stopped, r.Counts.Pages)
	}
	asked := len(w.urls())
	if again := crawl(t, opt); again.Stopped != StopMinHarvest || len(w.urls()) != asked || again.Next != r.Next {
		t.Errorf("resumed: %s, %d requests more, next %+v, before %+v", again.Stopped, len(w.urls())-asked, again.Next, r.Next)
	}
	opt.MinHarvest, opt.MaxPages = 0.001, 0
	if again := crawl(t, opt); again.Stopped != StopEmpty || again.Counts.Pages != 1000 {
		t.Errorf("resumed with a lower limit: %s after %d pages", again.Stopped, again.Counts.Pages)
	}
}
