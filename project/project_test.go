package project

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const tutorial = `# made long ago
cliVersion: 4.15.0
domain: tutorial.kubebuilder.io
layout:
- go.kubebuilder.io/v4
plugins:
  helm.kubebuilder.io/v1-alpha: {}
projectName: project # the name
repo: tutorial.kubebuilder.io/project
custom:
  keep: [1, 2]
resources:
- api:
    crdVersion: v1
    namespaced: true
    future: yes
  controller: true
  domain: tutorial.kubebuilder.io
  group: batch
  kind: CronJob
  path: tutorial.kubebuilder.io/project/api/v1
  version: v1
version: "3"
`

func parse(t *testing.T, data string) *Project {
	t.Helper()
	p, err := Parse("PROJECT", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func marshal(t *testing.T, p *Project) string {
	t.Helper()
	data, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParse(t *testing.T) {
	p := parse(t, tutorial)
	want := Resource{
		Group: "batch", Version: "v1", Kind: "CronJob", Domain: "tutorial.kubebuilder.io",
		Path: "tutorial.kubebuilder.io/project/api/v1", Controller: true,
		API: &API{CRDVersion: "v1", Namespaced: true},
	}
	if diff := cmp.Diff(want, *p.Lookup("batch", "v1", "CronJob")); diff != "" {
		t.Error(diff)
	}
	if p.Name != "project" || p.Domain != "tutorial.kubebuilder.io" || p.Layout[0] != Layout {
		t.Errorf("read %+v", p)
	}
}

func TestParseVersion2(t *testing.T) {
	p := parse(t, "version: \"2\"\ndomain: example.com\nrepo: example.com/x\nmultigroup: true\nresources:\n- group: ship\n  kind: Frigate\n  version: v1\n")
	r := p.Lookup("ship", "v1", "Frigate")
	if r == nil || r.QualifiedGroup() != "ship.example.com" || !p.MultiGroup || r.API == nil {
		t.Fatalf("read %+v", p)
	}
	p.Resources = append(p.Resources, Resource{Group: "ship", Version: "v2", Kind: "Frigate", Domain: "example.com", API: &API{}})
	want := "- group: ship\n  kind: Frigate\n  version: v1\n- group: ship\n  kind: Frigate\n  version: v2\n"
	if got := marshal(t, p); !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestMarshalKeepsUnchangedBytes(t *testing.T) {
	odd := strings.ReplaceAll(tutorial, "custom:\n", "\n\ncustom:   \n")
	if got := marshal(t, parse(t, odd)); got != odd {
		t.Errorf("got\n%s", got)
	}
}

// odd is a file that an encoder would write otherwise.
const odd = `# made long ago

domain:   tutorial.kubebuilder.io
layout:
    - "go.kubebuilder.io/v4"
projectName: project # the name
repo: tutorial.kubebuilder.io/project
custom:
  keep: [1, 2]
resources:
    # the first
    -   group: batch
        version: v1
        api:
            crdVersion: v1
            future: yes   # not yet
        kind: CronJob

        # what others import
        path: 'tutorial.kubebuilder.io/project/v2/api/v1'
    - {group: batch, version: v1, kind: Job}
    # the end
version: "3"   # of the file
`

// TestMarshalLines: a file with ends of lines that only YAML knows is written anew.
func TestMarshalLines(t *testing.T) {
	for _, end := range []string{"\r", "\u2028", "\u0085"} {
		p, err := Parse(FileName, []byte("version: \"3\"\n# a"+strings.Repeat(end+"# b", 9)+"\nprojectName: a\ndomain: a.b\nrepo: a.b/c\nresources:"+end+"- kind: A\n"))
		if err != nil {
			continue // it is no line end there
		}
		p.MultiGroup = true
		if out, err := p.Marshal(); err != nil || !strings.Contains(string(out), "multigroup: true") {
			t.Errorf("%q: got %q, %v", end, out, err)
		}
	}
}

// TestMarshalEdits: of a file that was read only the entries that changed are written, and what takes them back
// restores its bytes.
func TestMarshalEdits(t *testing.T) {
	entry := Resource{Group: "batch", Version: "v2", Kind: "CronJob", Controllers: []Controller{{Name: "second"}}}
	webhooks := &Webhooks{WebhookVersion: "v1", Defaulting: true}
	for _, test := range []struct {
		name         string
		change, undo func(p *Project)
		old, new     string // what becomes what
	}{
		{
			"an entry", func(p *Project) { p.Resources = append(p.Resources, entry) }, func(p *Project) { p.Resources = p.Resources[:2] },
			"kind: Job}\n", "kind: Job}\n    - controllers:\n        - name: second\n      group: batch\n      kind: CronJob\n      version: v2\n",
		},
		{
			"a key in an entry", func(p *Project) { p.Resources[0].Webhooks = webhooks }, func(p *Project) { p.Resources[0].Webhooks = nil },
			"/v2/api/v1'\n", "/v2/api/v1'\n        webhooks:\n          defaulting: true\n          webhookVersion: v1\n",
		},
		{
			"the first key of an entry", func(p *Project) { p.Resources[0].Controller = true }, func(p *Project) { p.Resources[0].Controller = false },
			"-   group: batch\n", "-   controller: true\n        group: batch\n",
		},
		{
			"a key of a part", func(p *Project) { p.Resources[0].API.SSA = true }, func(p *Project) { p.Resources[0].API.SSA = false },
			"# not yet\n", "# not yet\n            ssa: true\n",
		},
		{
			"an entry in braces", func(p *Project) { p.Resources[1].Controller = true }, func(p *Project) { p.Resources[1].Controller = false },
			"- {group: batch, version: v1, kind: Job}", "- {controller: true, group: batch, version: v1, kind: Job}",
		},
		{
			"a key of the file", func(p *Project) { p.MultiGroup = true }, func(p *Project) { p.MultiGroup = false },
			"projectName:", "multigroup: true\nprojectName:",
		},
		{
			"a value", func(p *Project) { p.Name = "other" }, func(p *Project) { p.Name = "project" },
			"project # the name", "other # the name",
		},
		{
			"facts of a plug-in", func(p *Project) { _ = p.SetPlugin("x", map[string][]int{"of": {1}}) }, func(p *Project) { p.DropPlugin("x") },
			"projectName:", "plugins:\n  x:\n    of:\n      - 1\nprojectName:",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, ends := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll(odd, "\n", ends)
				p := parse(t, text)
				test.change(p)
				want := strings.ReplaceAll(strings.Replace(odd, test.old, test.new, 1), "\n", ends)
				got := marshal(t, p)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatal(diff)
				}
				p = parse(t, got)
				test.undo(p)
				if diff := cmp.Diff(text, marshal(t, p)); diff != "" {
					t.Errorf("taken back: %s", diff)
				}
			}
		})
	}
}

// TestMarshalRemoves: what goes takes the comments right above it along, and leaves all others.
func TestMarshalRemoves(t *testing.T) {
	p := parse(t, odd)
	p.Resources = p.Resources[1:]
	from, to := strings.Index(odd, "    -   group"), strings.Index(odd, "    - {")
	if diff := cmp.Diff(odd[:from]+odd[to:], marshal(t, p)); diff != "" {
		t.Error(diff)
	}
	p = parse(t, strings.TrimSuffix(odd, "\n"))
	p.MultiGroup, p.Resources = true, nil
	if got := marshal(t, p); strings.Contains(got, "resources") || strings.Contains(got, "# the end") || !strings.HasSuffix(got, "version: \"3\"   # of the file") {
		t.Errorf("got\n%s", got)
	}
}

func TestNewProject(t *testing.T) {
	p := &Project{Domain: "example.com", Repo: "example.com/op", Name: "op", Layout: []string{Layout}}
	if err := p.SetPlugin(PluginKey, map[string]int{"scaffold": 1}); err != nil {
		t.Fatal(err)
	}
	want := heading + "\n\ndomain: example.com\nlayout:\n- go.kubebuilder.io/v4\nplugins:\n  slipway.dev/v1:\n    scaffold: 1\nprojectName: op\nrepo: example.com/op\nversion: \"3\"\n"
	got := marshal(t, p)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	var facts struct{ Scaffold int }
	if ok, err := parse(t, got).Plugin(PluginKey, &facts); !ok || err != nil || facts.Scaffold != 1 {
		t.Errorf("facts %+v, %v, %v", facts, ok, err)
	}
}

func TestParseMistakes(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"empty", "", "PROJECT: is empty"},
		{"list", "- a\n", "PROJECT:1:1: is not a mapping"},
		{"syntax", "domain: example.com\nversion: \"3\n", "PROJECT:2:1: is not valid YAML"},
		{"conflict", "domain: a.b\n<<<<<<< HEAD\nversion: \"3\"\n", "PROJECT:"},
		{"version", "version: \"9\"\n", `PROJECT:1:10: version "9" is not a known version`},
		{"domain", "version: \"3\"\ndomain: Example.com\n", `PROJECT:2:9: domain "Example.com" has an upper-case letter`},
		{"repo", "version: \"3\"\nrepo: a b\n", `PROJECT:2:7: repo "a b" is not usable`},
		{"bool", "version: \"3\"\nmultigroup: perhaps\n", `PROJECT:2:13: multigroup "perhaps" is not a boolean`},
		{"kind", "version: \"3\"\nresources:\n- group: g\n  version: v1\n  kind: foo\n", `PROJECT:5:9: resources[0].kind "foo" starts with a lower-case letter`},
		{"no kind", "version: \"3\"\nresources:\n- group: g\n  version: v1\n", `PROJECT:3:3: resources[0].kind is missing`},
		{"resource", "version: \"3\"\nresources:\n- text\n", `PROJECT:3:3: resources[0] "text" is not a mapping`},
		{"same", "version: \"3\"\nresources:\n- {group: g, version: v1, kind: K}\n- {group: g, version: v1, kind: K}\n", `PROJECT:4:3: resources[1] "K" occurs twice`},
		{"twice", "version: \"3\"\ndomain: a.b\ndomain: a.c\n", `PROJECT:3:1: domain appears twice`},
		{"alias", "version: \"3\"\na: &x 1\nb: *x\n", `PROJECT:3:4: uses a YAML alias`},
		{"two", "version: \"3\"\n---\nversion: \"3\"\n", `holds more than one YAML document`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("PROJECT", []byte(test.data))
			var fe *FieldError
			if !errors.As(err, &fe) {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(err.Error(), test.want) && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(deep); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a project: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, FileName), []byte(tutorial), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := Find(deep)
	if err != nil || got != root {
		t.Errorf("got %q, %v; want %q", got, err, root)
	}
	if _, err := Load(got); err != nil {
		t.Error(err)
	}
}

// FuzzParse checks that what is read can be written and read again with the same
// meaning, and that no input makes the parser fail otherwise than by a FieldError.
func FuzzParse(f *testing.F) {
	f.Add([]byte(tutorial))
	f.Add([]byte("version: \"2\"\ndomain: a.b\nresources:\n- {group: g, version: v1, kind: K}\n"))
	f.Add([]byte("version: '3'\nlayout: x\nmultigroup: yes\nplugins: {}\nresources: []\n"))
	f.Add([]byte("version: 3\nresources:\n- version: v1\n  kind: Pod\n  core: true\n  webhooks: {spoke: [v2]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("PROJECT", data)
		var fe *FieldError
		if err != nil {
			if !errors.As(err, &fe) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		p.CLIVersion = "fuzz"
		if p.Lookup("fuzz", "v1", "Fuzz") != nil {
			return
		}
		p.Resources = append(p.Resources, Resource{Group: "fuzz", Version: "v1", Kind: "Fuzz", Domain: p.Domain, Controller: true, API: &API{CRDVersion: "v1", Namespaced: true}})
		out, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("PROJECT", out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if p.IsV2() {
			return // writes less than it holds
		}
		if diff := cmp.Diff(p.Resources, again.Resources); diff != "" {
			t.Errorf("%s\n%s", diff, out)
		}
	})
}
