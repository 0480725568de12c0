package generate

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMutatedObjects draws packages and compares what both programs make of them:
// where controller-gen succeeds we write the same bytes, where it fails we do.
func TestMutatedObjects(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-mutants")
	}
	programs := testPrograms(t)
	const batch = 500 // packages for one process
	tally, last := objectTally{}, int(*seedFlag+*mutantsFlag)
	for i, first := 0, int(*seedFlag); first < last; i, first = i+1, first+batch {
		b := &tempPackages{Programs: programs, dir: t.TempDir(), generator: []string{"object", "object:headerFile=header.txt,year=2031", "object:headerFile=header.txt"}[i%3]}
		module(t, b.dir, "example.org/objects")
		if err := os.CopyFS(b.dir, os.DirFS(filepath.Join("testdata", "objects"))); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, b.dir, map[string]string{"header.txt": "/*\nCopyright YEAR Somebody, in the YEAR of YEAR\n*/\n"})
		b.stricter = onlyInterfaces
		b.fill(t, first, min(batch, last-first), objectPackage)
		b.compareObjects(t, &tally)
		t.Logf("%d of %d packages: %s", min(first+batch, last)-int(*seedFlag), *mutantsFlag, tally)
	}
	if tally.same == 0 || tally.failed == 0 {
		t.Error("the draw is of no use: both kinds of packages must occur")
	}
}

// onlyInterfaces reports whether we refused nothing but types that are interfaces, and generic ones. Where such an
// interface has one of the methods controller-gen writes the other one for the type, which Go then refuses, as it does
// those of generic types.
func onlyInterfaces(said string) bool {
	errors := 0
	for line := range strings.Lines(said) {
		if !strings.Contains(line, ": error: ") {
			continue
		}
		if errors++; !strings.Contains(line, "an interface has no deep copy") && !strings.Contains(line, "methods of generic types are not generated") {
			return false
		}
	}
	return errors > 0
}

type objectTally struct{ same, none, failed, crashed, different int }

func (c objectTally) String() string {
	return fmt.Sprintf("%d with the same file, %d without any, %d failed with both, controller-gen crashed on %d, %d differ",
		c.same, c.none, c.failed, c.crashed, c.different)
}

func (b *tempPackages) compareObjects(t *testing.T, tally *objectTally) {
	t.Helper()
	failing, crashing := b.peerFails(t, b.pkgs)
	tally.crashed += len(crashing)
	tally.failed += len(failing)
	theirs := b.takeObjects(t)
	for name := range maps.Keys(crashing) {
		b.mustEnd(t, name)
		failing[name] = "crash"
	}
	good := b.check(t, failing)
	if o := b.run(t, b.Slipway, good, "controller-gen"); o.code != 0 {
		good = b.tellWrongFailures(t, good, false)
		b.run(t, b.Slipway, good, "controller-gen")
	}
	ours := b.takeObjects(t)
	for _, name := range good {
		switch mine, peers := ours[name], theirs[name]; {
		case mine == nil && peers == nil:
			tally.none++
		case bytes.Equal(mine, peers), mine != nil && bytes.Equal(withoutArguments(t, mine), peers):
			tally.same++
		default:
			tally.different++
			t.Errorf("%s: other bytes:\n%s\n%s", name, diffText(t, peers, mine), describeFiles(b.files[name]))
		}
	}
}

// takeObjects removes the generated files and returns them by package.
func (b *tempPackages) takeObjects(t *testing.T) map[string][]byte {
	t.Helper()
	taken := make(map[string][]byte)
	for name := range slices.Values(b.pkgs) {
		path := filepath.Join(b.dir, "pool", name, "zz_generated.deepcopy.go")
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		taken[name] = content
	}
	return taken
}
