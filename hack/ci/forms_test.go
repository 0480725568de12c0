package ci_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A form is what GitHub asks for in a new issue.
type form struct {
	Name, Description string
	Body              []struct {
		Type, ID   string
		Attributes struct{ Label, Description, Render string }
	}
}

func TestIssueForms(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml"))
	if err != nil || len(names) < 3 {
		t.Fatalf("found %v: %v", names, err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		if base == "config.yml" {
			continue
		}
		var f form
		read(t, ".github/ISSUE_TEMPLATE/"+base, &f)
		if f.Name == "" || f.Description == "" || len(f.Body) == 0 {
			t.Errorf("%s has no name, description or questions", base)
		}
		asked := map[string]bool{}
		for _, q := range f.Body {
			if (q.Type != "textarea" && q.Type != "input") || q.ID == "" || asked[q.ID] || q.Attributes.Label == "" {
				t.Errorf("%s: %+v is no question, or is asked twice", base, q)
			}
			asked[q.ID] = true
			if q.ID == "version" && q.Type != "textarea" {
				t.Errorf("%s: slipway version prints several lines, and a field for one asks for them", base)
			}
		}
	}
}

// TestRenovateFindsLinters: the tools that the Makefile runs by version are raised by robots.
func TestRenovateFindsLinters(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "renovate.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		CustomManagers []struct{ MatchStrings []string }
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(config.CustomManagers[0].MatchStrings[0])
	for _, name := range []string{"STATICCHECK", "ACTIONLINT", "GOLANGCI_LINT"} {
		tool := makeVariable(t, name)
		m := pattern.FindStringSubmatch(":= " + tool)
		if m == nil || !strings.HasPrefix(tool, m[pattern.SubexpIndex("depName")]+"/") || !strings.HasSuffix(tool, "@"+m[pattern.SubexpIndex("currentValue")]) {
			t.Errorf("renovate.json finds %q in %s", m, tool)
		}
	}
}
