package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// schema is a part of a JSON schema.
type schema struct {
	Ref        string             `yaml:"$ref"`
	Type       any                `yaml:"type"`
	Enum       []string           `yaml:"enum"`
	Required   []string           `yaml:"required"`
	Properties map[string]*schema `yaml:"properties"`
	Items      *schema            `yaml:"items"`
	Additional any                `yaml:"additionalProperties"`
}

type operation struct {
	Parameters []struct {
		Ref  string `yaml:"$ref"`
		Name string `yaml:"name"`
	} `yaml:"parameters"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *schema `yaml:"schema"`
		} `yaml:"content"`
	} `yaml:"responses"`
}

type description struct {
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		Schemas map[string]*schema `yaml:"schemas"`
	} `yaml:"components"`
	t    *testing.T
	seen map[*schema]map[string]bool // properties that an answer had
}

// check compares a value with its schema: each key is described, and required keys are there.
func (d *description) check(where string, s *schema, v any) {
	if name, is := strings.CutPrefix(s.Ref, "#/components/schemas/"); is {
		s = d.Components.Schemas[name]
	}
	kinds, _ := s.Type.([]any)
	if one, ok := s.Type.(string); ok {
		kinds = []any{one}
	}
	switch v := v.(type) {
	case nil:
		if !slices.Contains(kinds, "null") {
			d.t.Errorf("%s is null", where)
		}
	case map[string]any:
		if s.Properties == nil && s.Additional != nil {
			return
		}
		for key, value := range v {
			p := s.Properties[key]
			if p == nil {
				d.t.Errorf("%s has %s, which is not described", where, key)
				continue
			}
			if d.seen[s] == nil {
				d.seen[s] = map[string]bool{}
			}
			d.seen[s][key] = true
			d.check(where+"."+key, p, value)
		}
		for _, key := range s.Required {
			if _, ok := v[key]; !ok {
				d.t.Errorf("%s lacks %s", where, key)
			}
		}
	case []any:
		for _, one := range v {
			if s.Items == nil {
				d.t.Errorf("%s is an array", where)
				return
			}
			d.check(where+"[]", s.Items, one)
		}
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, v) || s.Enum == nil && !slices.Contains(kinds, "string") {
			d.t.Errorf("%s is %q; want %v %v", where, v, kinds, s.Enum)
		}
	case float64:
		if !slices.Contains(kinds, "number") && !(slices.Contains(kinds, "integer") && v == float64(int64(v))) {
			d.t.Errorf("%s is %v; want %v", where, v, kinds)
		}
	case bool:
		if !slices.Contains(kinds, "boolean") {
			d.t.Errorf("%s is %v; want %v", where, v, kinds)
		}
	}
}

// asked are questions that answer for each path; without one, its path alone.
var asked = map[string]string{"story": "?url=http://h2.test/page2", "page": "?url=http://h0.test/page0", "pages": "?q=honey", "label": `{"labels":[{"url":"http://h0.test/page0","label":"yes"}]}`,
	"snapshot": "?url=http://h0.test/page0", "export": "?format=urls"}

// TestDescription: openapi.yaml describes each question and each key of its answer, and nothing else.
func TestDescription(t *testing.T) {
	d := description{t: t, seen: map[*schema]map[string]bool{}}
	if err := yaml.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	s := serve(t, makeStore(t, 4))
	want := []string{"get /api/stores", "get /api/openapi.yaml", "get /api/start", "post /api/start", "post /api/start/{id}/stop", "post /api/examples"}
	for pattern := range s.stores[0].rest.routes() {
		method, path, _ := strings.Cut(pattern, " ")
		want = append(want, strings.ToLower(method)+" /api/stores/{n}"+strings.TrimSuffix(path, "/{$}"))
	}
	var got []string
	for path, methods := range d.Paths {
		for method, op := range methods {
			got = append(got, method+" "+path)
			if !strings.HasPrefix(path, "/api/start/") && path != "/api/start" && path != "/api/examples" { // TestJobs
				d.ask(s, method, path, op)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("described %q\nserved   %q", got, want)
	}
	for name, of := range d.Components.Schemas {
		for key := range of.Properties {
			if d.seen[of] != nil && !d.seen[of][key] && !slices.Contains([]string{"topic", "topics", "whole", "error", "reason", "diff", "unreadable"}, key) { // of several topics, several agents
				t.Errorf("%s.%s is described, and no answer has it", name, key)
			}
		}
	}
}

func (d *description) ask(s *Server, method, path string, op operation) {
	question, name := asked[path[strings.LastIndexByte(path, '/')+1:]], strings.ReplaceAll(path, "{n}", "0")
	answer, json200 := op.Responses["200"].Content["application/json"]
	if strings.HasSuffix(path, "/events") || strings.HasSuffix(path, "/crawl") {
		return // TestEvents and TestChange
	}
	body := ""
	if method == "post" {
		question, body = "", question
	}
	resp, text := s.ask(d.t, strings.ToUpper(method), name+question, body, nil)
	if resp.StatusCode != http.StatusOK {
		d.t.Errorf("%s %s: %s %.200s", method, path, resp.Status, text)
		return
	}
	if !json200 {
		return
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		d.t.Errorf("%s: %v", path, err)
		return
	}
	d.check(path, answer.Schema, v)
}

// agents: the page of one agent shows all of them, and who owns a site.
func (d *description) agents(s *Server) {
	for of, want := range map[string]string{"": "", "h1.test": `"h1.test"`, "http://www.h1.test:8080/x?y": `"h1.test"`} {
		_, text := s.ask(d.t, "GET", "/api/stores/0/agents?of="+url.QueryEscape(of), "", nil)
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			d.t.Fatal(err)
		}
		d.check("agents", d.Components.Schemas["Agents"], v)
		for _, part := range []string{`"self":"bees"`, `"place":"alpha:<b>"`, `"state":"leaving"`, want} {
			if !strings.Contains(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)), part) {
				d.t.Errorf("of %s: no %s in %s", of, part, text)
			}
		}
	}
	for _, of := range []string{"://", "no host", "ftp://x.test/"} {
		if resp, text := s.ask(d.t, "GET", "/api/stores/0/agents?of="+url.QueryEscape(of), "", nil); resp.StatusCode != http.StatusBadRequest {
			d.t.Errorf("of %q: %s %s", of, resp.Status, text)
		}
	}
}

// TestEvents: the events of a running crawl, and what a change answers, are as described.
func TestEvents(t *testing.T) {
	d := description{t: t, seen: map[*schema]map[string]bool{}}
	if err := yaml.Unmarshal(openAPI, &d); err != nil {
		t.Fatal(err)
	}
	dir := makeStore(t, 4)
	running(t, dir, nil)
	s := serve(t, dir)
	tab := s.tab(t)
	d.agents(s)
	for _, name := range []string{"status", "rest"} {
		var v any
		if err := json.Unmarshal([]byte(await(t, tab, "event: "+name)), &v); err != nil {
			t.Fatal(err)
		}
		d.check(name, d.Components.Schemas["Event"].Properties[name], v)
		if name == "rest" && !strings.Contains(fmt.Sprint(v), "Retry-After") {
			t.Errorf("rests: %v", v)
		}
	}
	_, text := s.ask(t, "POST", "/api/stores/0/crawl", `{"action":"go"}`, nil)
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	d.check("error", d.Components.Schemas["Error"], v) // this crawl takes no changes
}
