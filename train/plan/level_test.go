package plan

import "testing"

func TestThemes(t *testing.T) {
	var th Themes
	if err := th.UnmarshalText([]byte("newsgroups")); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{
		"comp.os.ms-windows.misc": "comp", "rec.autos": "rec", "soc.religion.christian": "soc-alt", "alt.atheism": "soc-alt",
		"misc.forsale": "misc", "talk.politics.guns": "talk", "sci.med": "sci", "compost": "compost",
	} {
		if got := th.of(label); got != want {
			t.Errorf("theme of %s: %s, want %s", label, got, want)
		}
	}
	var own Themes
	if err := own.UnmarshalText([]byte("gull=bird, crow*=bird,*=beast")); err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"gull": "bird", "crowned": "bird", "gulls": "beast"} {
		if got := own.of(label); got != want {
			t.Errorf("theme of %s: %s, want %s", label, got, want)
		}
	}
	if err := (&Themes{}).UnmarshalText([]byte("=bird")); err == nil {
		t.Error("a theme of no label was accepted")
	}
}
