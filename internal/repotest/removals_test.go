package repotest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// removers are the files that remove folders with all that is in them, and why these are slipway's. A name is no
// reason: users call their folders what they like. All else has internal/userdirs remove folders, which looks for
// slipway's mark.
var removers = map[string]string{
	"internal/userdirs/mark.go":                        "after a look at the mark",
	"internal/userdirs/scratch.go":                     "made by the same call",
	"operator/clustertest/internal/session/sweep.go":   "made by the same call",
	"operator/clustertest/internal/session/mark.go":    "after a look at the mark",
	"operator/clustertest/internal/serving/serving.go": "in the folder of a session",
	"internal/removetree/all_other.go":                 "for its callers",
	"cluster/realnode/removetree/all_other.go":         "for its callers",
	"internal/userdirs/holdings/holdings.go":           "the user asks for it, and the names are hashes but for those in images",
	"internal/clusterctl/state/remove.go":              "the state of a cluster: a folder without files of one is refused",
	"internal/kustomize/confined.go":                   "kustomize asks for it, in the project or where the command line names",
	"internal/program/prune.go":                        "slots of the cache, after a look at the note or the mark in them",
	"internal/program/released.go":                     "what was unpacked of an archive, in the folder of downloads",
	"internal/program/slot.go":                         "in a slot of the cache, whose name is a hash",
	"internal/setupenvtest/link.go":                    "made by the same call",
	"internal/setupenvtest/store.go":                   "the user asks for it, as with the peer",
	"internal/toollink/link.go":                        "made by the same call",
	"cluster/engine/engine.go":                         "in the state of a cluster",
	"cluster/engine/logical.go":                        "in the state of a cluster",
	"cluster/realnode/cri/container.go":                "in the state of a node",
	"cluster/realnode/cri/runtime.go":                  "in the state of a node",
	"cluster/realnode/cri/sandbox.go":                  "in the state of a node",
	"cluster/realnode/imagestore/about.go":             "in the state of a node",
	"cluster/realnode/imagestore/entry.go":             "in an image that is being unpacked",
	"cluster/realnode/imagestore/pull.go":              "made by the same call",
	"cluster/realnode/imagestore/store.go":             "in the state of a node",
	"cluster/realnode/imagestore/superseded.go":        "in the state of a node",
	"cluster/realnode/imagestore/unpack.go":            "in an image that is being unpacked",
	"cluster/realnode/containerinit/remove_linux.go":   "for its callers",
	"cluster/realnode/isolated/points_linux.go":        "made by the same call",
	"cluster/realnode/machine/machine_other.go":        "in the state of a cluster",
	"cluster/realnode/machine/remove_linux.go":         "in the state of a cluster",
	"cluster/realnode/machine/volumes.go":              "in the state of a cluster",
	"cluster/registry/disk/sweep.go":                   "in the state of a cluster",
	"cluster/registry/registry.go":                     "in the state of a cluster",
	"cluster/serve/record.go":                          "made by the same call",
}

// TestFoldersAreRemovedByTheirMarks: in the modules that users run, whoever removes folders has a reason to take them
// for slipway's.
func TestFoldersAreRemovedByTheirMarks(t *testing.T) {
	removes := regexp.MustCompile(`\bRemoveAll\(|\bremovetree\.All\(`)
	var used []string
	for _, file := range files(t, ".go") {
		if module, _, _ := strings.Cut(file, "/"); strings.HasSuffix(file, "_test.go") || !slices.Contains([]string{"internal", "cmd", "project", "cluster", "operator"}, module) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if !removes.Match(text) {
			continue
		}
		if removers[file] == "" {
			t.Errorf("%s removes folders: have internal/userdirs remove them, or give the reason here why they are slipway's", file)
		}
		used = append(used, file)
	}
	for file := range removers {
		if !slices.Contains(used, file) {
			t.Errorf("%s does not remove folders", file)
		}
	}
}
