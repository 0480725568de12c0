package crdcheck_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/cluster/crdcheck"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCheck checks a corpus of wrong definitions.
func TestCheck(t *testing.T) {
	for _, path := range corpus(t, "testdata/check/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			findings := crdcheck.Check(t.Context(), file(t, path))
			var lines strings.Builder
			for _, f := range findings {
				verdict := "warning"
				if f.Refused {
					verdict = "refused"
				}
				fmt.Fprintf(&lines, "%s %s: %s %q\n", verdict, f.Definition, f.Path, f.Value)
				if f.Reason != "" {
					fmt.Fprintf(&lines, "  %s:\n", f.Reason)
				}
				fmt.Fprintf(&lines, "  %s\n", f.Message)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", lines.String())
		})
	}
}

// TestRightDefinitionHasNoFindings keeps the corpus honest: its base is right.
func TestRightDefinitionHasNoFindings(t *testing.T) {
	for _, f := range crdcheck.Check(t.Context(), file(t, "testdata/check/right.yaml")) {
		t.Errorf("%+v", f)
	}
}

// TestCompare compares pairs of definitions, ten times, since libraries go through maps.
func TestCompare(t *testing.T) {
	for _, path := range corpus(t, "testdata/compare/*.before.yaml") {
		name := strings.TrimSuffix(filepath.Base(path), ".before.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := file(t, path), file(t, filepath.Join("testdata/compare", name+".after.yaml"))
			for range 10 {
				changes, err := crdcheck.Compare(t.Context(), []crdcheck.File{before}, []crdcheck.File{after})
				if err != nil {
					t.Fatal(err)
				}
				var lines strings.Builder
				for _, c := range changes {
					verdict := "compatible"
					if c.Breaking {
						verdict = "breaking"
					}
					fmt.Fprintf(&lines, "%s %s %s %s: %s: %s\n  %s\n", verdict, c.Definition, c.Version, c.Field, c.Rule, c.Message, c.Path)
				}
				golden(t, filepath.Join("testdata/compare", name+".golden"), lines.String())
			}
		})
	}
}

// TestSize checks the limits of etcd and of kubectl apply.
func TestSize(t *testing.T) {
	right := file(t, "testdata/check/right.yaml")
	for _, test := range []struct {
		bytes   int
		want    crdcheck.Reason
		refused bool
	}{
		{200 << 10, "", false},
		{257 << 10, crdcheck.TooLargeToApply, false},
		{1537 << 10, crdcheck.TooLargeToStore, true},
	} {
		f := right
		f.Content = strings.Replace(f.Content, "type: string\n", "type: string\n            description: "+strings.Repeat("d", test.bytes)+"\n", 1)
		findings := crdcheck.Check(t.Context(), f)
		if test.want == "" && len(findings) == 0 {
			continue
		}
		if len(findings) != 1 || findings[0].Reason != test.want || findings[0].Refused != test.refused {
			t.Errorf("%d bytes: %+v, want %s", test.bytes, findings, test.want)
		}
	}
}

// TestAliases: a file whose aliases stand for megabytes is refused, and not one with a few.
func TestAliases(t *testing.T) {
	right := file(t, "testdata/check/right.yaml")
	for aliases, want := range map[string]string{
		"a: &a {b: c}\nd: *a\n": "",
		"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a]\n": "not YAML: its aliases expand to too much",
		"a: &a [*a]\n": "not YAML: its aliases expand to too much",
		"a: &a [*b]\n": "unknown anchor 'b'",
	} {
		f := right
		f.Content = aliases + "---\n" + right.Content
		findings := crdcheck.Check(t.Context(), f)
		if want == "" && len(findings) == 0 {
			continue
		}
		if len(findings) != 1 || !findings[0].Refused || !strings.Contains(findings[0].Message, want) {
			t.Errorf("%.20q: %+v, want %q", aliases, findings, want)
		}
	}
}

// TestShape: what is no definition is reported with its name, the place and what belongs there.
func TestShape(t *testing.T) {
	const head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boats.sea.example.com}\n"
	for text, want := range map[string]crdcheck.Finding{
		head + "spec: {versions: {name: v1}}\n":    {Definition: "boats.sea.example.com", Path: "spec.versions", Message: "a CustomResourceDefinition has a list here, and not a map"},
		head + "spec: []\n":                        {Definition: "boats.sea.example.com", Path: "spec", Message: "a CustomResourceDefinition has a map here, and not a list"},
		head + "spec: {versions: [{served: x}]}\n": {Definition: "boats.sea.example.com", Path: "spec.versions.served", Message: "a CustomResourceDefinition has true or false here, and not a text"},
	} {
		want.File, want.Refused = "f.yaml", true
		findings := crdcheck.Check(t.Context(), crdcheck.File{Name: "f.yaml", Content: text})
		if len(findings) != 1 || findings[0] != want {
			t.Errorf("%q: %+v", text, findings)
		}
	}
}

// TestCompareTellsDefinitionsThatAreThereTwice has no state to compare.
func TestCompareTellsDefinitionsThatAreThereTwice(t *testing.T) {
	right := file(t, "testdata/check/right.yaml")
	again := right
	again.Name = "again.yaml"
	_, err := crdcheck.Compare(t.Context(), []crdcheck.File{right, again}, nil)
	if err == nil || !strings.Contains(err.Error(), "again.yaml: things.example.com is already in testdata/check/right.yaml") {
		t.Error(err)
	}
}

// TestServe asks as the command does.
func TestServe(t *testing.T) {
	in, err := json.Marshal(map[string]any{"files": []crdcheck.File{file(t, "testdata/check/unique_items.yaml"), file(t, "testdata/check/right.yaml")}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := crdcheck.Serve(t.Context(), []string{"check"}, strings.NewReader(string(in)), &out); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Protocol   int
		Kubernetes string
		Findings   []crdcheck.Finding
	}
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Protocol != crdcheck.Protocol || answer.Kubernetes != crdcheck.Kubernetes || len(answer.Findings) != 1 {
		t.Errorf("%+v", answer)
	}
	for _, args := range [][]string{nil, {"guess"}, {"check", "this"}} {
		if err := crdcheck.Serve(t.Context(), args, strings.NewReader("{}"), &out); err == nil {
			t.Errorf("%q is no question", args)
		}
	}
	if err := crdcheck.Serve(t.Context(), []string{"check"}, strings.NewReader("{"), &out); err == nil {
		t.Error("half a question")
	}
}

func corpus(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	return paths
}

func file(t *testing.T, path string) crdcheck.File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return crdcheck.File{Name: path, Content: string(content)}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
