package repotest_test

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// outside are the files that may look for themselves at what facts of a project are read from: a walk through folders,
// the PROJECT file, or a name below config. All else asks internal/codebase.
var outside = map[string]string{
	// walks
	"internal/operation/nested.go":                                 "it looks for projects in a repository, before there is one",
	"internal/dev/testinputs.go":                                   "it notes the state of all files for the go command's cache",
	"internal/recipe/directives.go":                                "codebase has it look for go generate",
	"internal/scaffold/internal/layout/layout.go":                  "it moves whole folders",
	"internal/scaffold/internal/projecttest/projecttest.go":        "for tests",
	"internal/generate/internal/clients/stale.go":                  "files that it wrote before",
	"internal/chart/internal/kubebuilderchart/kubebuilderchart.go": "charts of another tool",
	"internal/kustomize/confined.go":                               "it writes, as kustomize's own commands do",
	"internal/dependency/search.go":                                "other modules",
	"internal/scaffold/templates/templates.go":                     "templates",
	"internal/addon/sources.go":                                    "modules of add-ons",
	"internal/git/fetch.go":                                        "what was fetched",
	"internal/process/trustall_unix.go":                            "programs",
	"internal/program/key.go":                                      "sources of slipway itself",
	"internal/prose/prose.go":                                      "this repository",
	"internal/setupenvtest/download.go":                            "folders that slipway itself fills",
	"internal/image/transfer/save.go":                              "archives",
	"internal/image/dockerfile/list.go":                            "it lists what a Dockerfile copies",
	"internal/userdirs/holdings/holdings.go":                       "the user's cache",
	"internal/clusterctl/storage.go":                               "what a cluster keeps",
	// names below config
	"internal/addon/addon.go":                            "modules of add-ons",
	"internal/generate/arguments/output.go":              "controller-gen's own default",
	"internal/chart/internal/kubebuilderchart/values.go": "it names where a value of kubebuilder's chart went",
	"internal/scaffold/internal/manager/wire.go":         "it writes the scaffold's role",
	"internal/scaffold/internal/newapi/files.go":         "it writes the scaffold's samples",
	"internal/features":                                  "the table of what features write",
	"internal/scaffold/internal/feature":                 "it writes what features consist of",
}

// TestFactsAreReadInOnePlace: what a verb takes for a fact of the project is the same for all verbs.
func TestFactsAreReadInOnePlace(t *testing.T) {
	looks := regexp.MustCompile(`\bproject\.Load\(|\b(?:filepath|fs)\.WalkDir\(|"config/`)
	used := map[string]bool{}
	for name, text := range goFiles(t) {
		if !strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "internal/codebase/") || strings.HasPrefix(name, "internal/repotest/") {
			continue
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "//") || !looks.MatchString(line) {
				continue
			}
			part := name
			for outside[part] == "" && part != "." {
				part = path.Dir(part)
			}
			if used[part] = true; part == "." {
				t.Errorf("%s looks at the project by itself: ask internal/codebase, or give the reason here\n%s", name, line)
			}
		}
	}
	for _, part := range slices.Sorted(maps.Keys(outside)) {
		if !used[part] {
			t.Errorf("%s does not look at the project by itself", part)
		}
	}
}
