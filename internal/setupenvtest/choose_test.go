package setupenvtest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

func selector(t *testing.T, text string) Selector {
	t.Helper()
	s, err := ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKubernetesIsWhatTheProgramEmbeds(t *testing.T) {
	source, err := os.ReadFile("../../cluster/version/version.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := `const Kubernetes = "` + embedded().String() + `"`; !strings.Contains(string(source), want) {
		t.Errorf("cluster/version/version.go has no line %s", want)
	}
}

func TestSelectorsMatch(t *testing.T) {
	for _, test := range []struct{ selector, match, no string }{
		{"1.37.1", "1.37.1", "1.37.0 1.37.2 1.36.1"},
		{"1.37", "1.37.0 1.37.9", "1.36.9 1.38.0 2.37.0"},
		{"1.37.x", "1.37.0 1.37.9", "1.36.9 1.38.0"},
		{"1.37.*!", "1.37.0 1.37.9", "1.36.9 1.38.0"},
		{"~1.37.2", "1.37.2 1.37.3", "1.37.1 1.38.0"},
		{"~1.37", "1.37.0 1.37.3", "1.36.1 1.38.0"},
		{"<1.37", "1.36.9 1.0.0 0.9.0", "1.37.0 2.0.0"},
		{"<=1.37", "1.37.9 1.36.9", "1.38.0"},
		{"<1.37.2", "1.37.1 1.36.9", "1.37.2 1.37.3"},
		{"<=1.37.2", "1.37.2 1.36.9", "1.37.3"},
		{"latest", "0.0.0 1.37.1 9.9.9", ""},
		{"latest-on-disk", "0.0.0 1.37.1 9.9.9", ""},
		{"", "0.0.0 1.37.1 9.9.9", ""},
	} {
		s := selector(t, test.selector)
		for want, versions := range map[bool]string{true: test.match, false: test.no} {
			for text := range strings.FieldsSeq(versions) {
				v, ok := parseVersion(text)
				if !ok || s.Matches(v) != want {
					t.Errorf("%q matches %s: %v", test.selector, text, !want)
				}
			}
		}
	}
}

func TestSelectorsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"1", "v1.37.1", "1.37.1.2", "1.37.y", ">1.36", "1.037", "latest!", "1.37 ", "-1.37", "1.37.99999999999999999999"} {
		if _, err := ParseSelector(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// someVersion is one that may be embedded.
var someVersion = Version{1, 37, 1}

func TestChoose(t *testing.T) {
	items := func(versions string) (list []Item) {
		for text := range strings.FieldsSeq(versions) {
			v, _ := parseVersion(text)
			list = append(list, Item{v, Host()})
		}
		return list
	}
	for _, test := range []struct {
		name, selector, installed string // installed are those that match
		request                   Request
		ours                      bool
		want                      string // a version, with ~ before it when it stands in, or empty for an error
	}{
		{name: "nothing installed", selector: "latest", want: "1.37.1"},
		{name: "its own minor", selector: "1.37.x", want: "1.37.1"},
		{name: "another patch", selector: "1.37.0", want: "~1.37.1"},
		{name: "an older minor", selector: "1.34.x!", want: "~1.37.1"},
		{name: "an older minor or a later patch", selector: "~1.35.3", want: "~1.37.1"},
		{name: "older than", selector: "<1.36", want: "~1.37.1"},
		{name: "too old", selector: "1.33.x"},
		{name: "older than all", selector: "<1.34"},
		{name: "too new", selector: "1.38"},
		{name: "another major", selector: "2.37"},
		{name: "exactly", selector: "1.36.x", request: Request{Exact: true}},
		{name: "exactly its own", selector: "1.37.1", request: Request{Exact: true}, want: "1.37.1"},
		{name: "installed", selector: "1.29.x", installed: "1.29.4 1.29.1", want: "1.29.4"},
		{name: "the newest that can be had", selector: "latest", installed: "1.36.4", want: "1.37.1"},
		{name: "the newest is installed", selector: "latest", installed: "1.40.0 1.37.1", want: "1.40.0"},
		{name: "the newest on disk", selector: "latest-on-disk", installed: "1.36.4", want: "1.36.4"},
		{name: "installed is not the newest patch", selector: "1.37.x", installed: "1.37.0", want: "1.37.0"},
		{name: "the newest patch", selector: "1.37.x!", installed: "1.37.0", want: "1.37.1"},
		{name: "only installed", selector: "1.37.x!", installed: "1.37.0", request: Request{Installed: true}, want: "1.37.0"},
		{name: "not installed", selector: "1.37.x", request: Request{Installed: true}},
		{name: "not on disk", selector: "latest-on-disk"},
		{name: "stands in where installed", selector: "1.36", request: Request{Installed: true}, ours: true, want: "~1.37.1"},
		{name: "by force", selector: "1.37.x", installed: "1.37.0", request: Request{Force: true}, want: "1.37.1"},
		{name: "by force another", selector: "1.29.x", installed: "1.29.0", request: Request{Force: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.request
			r.Selector, r.Platform = selector(t, test.selector), Host()
			c, err := choose(someVersion, r, items(test.installed), test.ours)
			got := c.item.Version.String()
			if c.standIn {
				got = "~" + got
			}
			if err != nil {
				got = ""
				if e, ok := errors.AsType[*report.Error](err); !ok || e.Code != failed || e.Hint == "" {
					t.Errorf("the error is not one for users: %v", err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestOtherPlatforms(t *testing.T) {
	other := Platform{"plan9", "mips"}
	r := Request{Selector: selector(t, "1.37.x"), Platform: other}
	if c, err := choose(someVersion, r, nil, true); err == nil {
		t.Errorf("there are programs for %s: %v", other, c)
	}
	installed := Item{Version{1, 37, 0}, other}
	if c, err := choose(someVersion, r, []Item{installed}, true); err != nil || c.item != installed {
		t.Errorf("got %v, %v", c, err)
	}
}
