package piece_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
)

const sections = `resources:
- ../crd
# [WEBHOOK] To enable webhooks, uncomment this.
#- ../webhook

patches:
- path: on.yaml
  target:
    kind: Deployment

# [WEBHOOK] To enable webhooks, uncomment this.
#- path: off.yaml
#  target:
#    kind: Deployment
# a note - with a dash

#replacements:
# - source: # Uncomment this for certificates
#     kind: Service
#     name: one
#   targets:
#     - select:
#         kind: Certificate
# - source:
#     kind: Service
#     name: two
#   targets: # Keep the marker.
# +kubebuilder:scaffold:marker
`

// entry is a section of a list.
func entry(list, item string) piece.Section {
	return piece.Section{Of: features.Entry{List: list, Item: item}}
}

// TestSection: an item comes out of its comments with the head of its list, and goes back; nothing else changes.
func TestSection(t *testing.T) {
	for _, test := range []struct {
		name    string
		section piece.Section
		waits   []int
		want    string // the lines that differ while it is on
	}{
		{"a patch", entry("patches", "off.yaml"), []int{12}, "- path: off.yaml\n  target:\n    kind: Deployment\n"},
		{"a replacement", entry("replacements", "Service/one"), []int{18}, "replacements:\n - source: # Uncomment this for certificates\n     kind: Service\n     name: one\n   targets:\n     - select:\n         kind: Certificate\n"},
		{"the last one", entry("replacements", "Service/two"), []int{24}, "replacements:\n - source:\n     kind: Service\n     name: two\n   targets: # Keep the marker.\n"},
		{"one that is on", entry("patches", "on.yaml"), nil, ""},
		{"one that does not exist", entry("patches", "none.yaml"), nil, ""},
		{"one of another list", entry("resources", "off.yaml"), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if off, _ := test.section.Lines([]byte(sections)); !slices.Equal(off, test.waits) {
				t.Errorf("it waits at %v", off)
			}
			on, err := test.section.On("", []byte(sections))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, changed(sections, string(on))); diff != "" {
				t.Errorf("on: %s", diff)
			}
			waits, _ := test.section.Lines(on)
			if again, _ := test.section.On("", on); string(again) != string(on) || len(waits) > 0 {
				t.Errorf("a second time it changes:\n%s", again)
			}
			off, err := test.section.Off("", on)
			if diff := cmp.Diff("", changed(string(on), string(off))); test.want == "" && test.name != "one that is on" && diff != "" || err != nil {
				t.Errorf("off: %v %s", err, diff)
			}
			if again, _ := test.section.On("", off); string(again) != string(on) {
				t.Errorf("off and on again it differs:\n%s", cmp.Diff(string(on), string(again)))
			}
		})
	}
}

// changed are the lines of the second text that differ from the first one's.
func changed(before, after string) string {
	old, now := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	text := ""
	for i, line := range now {
		if i >= len(old) || old[i] != line {
			text += line
		}
	}
	return text
}

// FuzzSection: a text that is no kustomization, or a damaged one, gives no error and loses nothing.
func FuzzSection(f *testing.F) {
	f.Add(sections)
	f.Add("#patches:\n#- path: off.yaml\n#   - {")
	f.Fuzz(func(t *testing.T, text string) {
		s := entry("patches", "off.yaml")
		on, err := s.On("", []byte(text))
		if err != nil || len(on) > len(text) {
			t.Fatalf("%v: %q", err, on)
		}
		off, err := s.Off("", on)
		if err != nil || len(off) < len(on) {
			t.Fatalf("%v: %q", err, off)
		}
	})
}

// TestSectionIndented: a section that comes out of its comments is an item of the list as that is indented.
func TestSectionIndented(t *testing.T) {
	const before = "patches:\n  - path: on.yaml\n#- path: off.yaml\n#  target:\n#    kind: Deployment\n"
	const want = "patches:\n  - path: on.yaml\n  - path: off.yaml\n    target:\n      kind: Deployment\n"
	if got, err := entry("patches", "off.yaml").On("", []byte(before)); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestSwitchIndented: an item of an indented list is one of it again after it was off.
func TestSwitchIndented(t *testing.T) {
	webhook := piece.Switch{Item: piece.Item{List: "resources", Name: "../webhook"}, Section: entry("resources", "../webhook")}
	for _, on := range []string{
		"resources:\n  - ../crd\n  - ../webhook\n",
		"resources:\n- ../crd\n- ../webhook\n",
	} {
		off, err := webhook.Off("", []byte(on))
		if err != nil {
			t.Fatal(err)
		}
		again, err := webhook.Insert("", off)
		if err != nil || string(off) == on || string(again) != on {
			t.Errorf("%q off is %q, and on again %q, %v", on, off, again, err)
		}
	}
	got, err := webhook.Insert("", []byte("resources:\n  - ../crd\n#- ../webhook\n"))
	if want := "resources:\n  - ../crd\n  - ../webhook\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
