package arguments_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
)

// TestRead: options of generators are taken as they stand, the last of several rules holds.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		line string
		want arguments.Call
	}{
		{"", arguments.Call{}},
		{"crd:none=1,x", arguments.Call{Uses: []arguments.Use{{Name: "crd", Options: "none=1,x"}}}},
		{"+crd= paths=./a;b/...", arguments.Call{Uses: []arguments.Use{{Name: "crd"}}, Paths: []string{"./a", "b/..."}}},
		{"crd:x output:crd:artifacts:config=a output:crd:dir=b output:none", arguments.Call{Uses: []arguments.Use{{Name: "crd", Options: "x", Output: arguments.Output{Config: "b", Code: "b"}}}}},
		{"crd output:crd:stdout output:crd:artifacts:config=m/crds,code=gen", arguments.Call{Uses: []arguments.Use{{Name: "crd", Output: arguments.Output{Config: "m/crds", Code: "gen"}}}}},
		{"object output:none crd output:crd:dir=b", arguments.Call{Uses: []arguments.Use{{Name: "object", Output: arguments.Output{To: arguments.ToNothing}}, {Name: "crd", Output: arguments.Output{Config: "b", Code: "b"}}}}},
	} {
		got, err := arguments.Read(strings.Fields(test.line), []string{"crd", "object"})
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.line, err, diff)
		}
	}
	for _, line := range []string{"none", "crd crd", "object output:crd:none", "output:none:dir=x", "crd output:dir"} {
		if got, err := arguments.Read(strings.Fields(line), []string{"crd", "object"}); err == nil {
			t.Errorf("%s: got %v", line, got)
		}
	}
}

func TestFolder(t *testing.T) {
	for want, output := range map[string]arguments.Output{"config/crd": {Code: "x"}, "m": {Config: "m"}} {
		if got := output.Folder("crd"); got != want {
			t.Errorf("%+v has %s, not %s", output, got, want)
		}
	}
}

func TestOption(t *testing.T) {
	for options, want := range map[string]string{
		"":                              "",
		"year=2026":                     "",
		"otherheaderFile=x":             "",
		"headerFile=a.txt":              "a.txt",
		`year=2026, headerFile="b.txt"`: "b.txt",
	} {
		if got := (arguments.Use{Options: options}).Option("headerFile"); got != want {
			t.Errorf("%s has %q, not %q", options, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		pattern, folder string
		want            bool
	}{
		{"./...", "api/v1", true},
		{"...", "api/v1", true},
		{"./...", ".", true},
		{"./api/...", "api", true},
		{"./api/...", "apis/v1", false},
		{"./api", "api/v1", false},
		{"./api/v1/", "api/v1", true},
		{".", ".", true},
		{".", "api", false},
		{"example.com/op/...", "api/v1", false},
	} {
		if got := arguments.Covers(test.pattern, test.folder); got != test.want {
			t.Errorf("%s covers %s: %v", test.pattern, test.folder, got)
		}
	}
}
