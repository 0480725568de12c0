package generate

import (
	"flag"
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/bench/build"
	"github.com/slipway-dev/slipway/test/differential/generate/mutant"
	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

var (
	mutantsFlag = flag.Uint64("mutants", 160, "how many mutants to compare")
	seedFlag    = flag.Uint64("seed", 0, "the seed of the first mutant")
)

// batchSize is how many mutants share a module: all are loaded at once.
const batchSize = 100

// TestMutants makes packages that nobody would write, runs controller-gen's crd
// generator and ours on each, and compares the bytes of what they write, whether
// they fail, and whether we told what controller-gen told. With -v every batch
// tells how far it came.
func TestMutants(t *testing.T) {
	all := *mutantsFlag
	if testing.Short() { // make test-long-mutants compares thousands
		all = min(all, 10)
	}
	r := newRanch(t)
	for done := uint64(0); done < all; done += batchSize {
		first, count := *seedFlag+done, min(batchSize, all-done)
		t.Run(fmt.Sprintf("m%d-m%d", first, first+count-1), func(t *testing.T) {
			r.compare(t, r.draw(first, count))
			t.Logf("%d of %d mutants: %s", done+count, all, r.tally)
		})
	}
	t.Logf("%d mutants: %s", all, r.tally)
	if int(all) >= len(r.definitions) {
		r.judgeDraw(t)
		t.Run("plain", r.exercise)
	}
}

// ranch is the programs that read mutants, and what came of all mutants so far.
type ranch struct {
	slipway, oracle string
	module          string // of mutants, which require what it does
	definitions     []oracle.Definition
	drawn, accepted map[string]bool // markers that were in a mutant, and in one of which files were made, as name and target
	tally           tally
}

// tally counts mutants.
type tally struct{ generated, empty, failed, crashed, different int }

func (c tally) String() string {
	return fmt.Sprintf("%d with the same files, %d without any, %d failed with both, controller-gen crashed on %d, %d differ",
		c.generated, c.empty, c.failed, c.crashed, c.different)
}

func newRanch(t *testing.T) *ranch {
	t.Helper()
	bin := t.TempDir()
	r := &ranch{module: oracleModule(bin), drawn: make(map[string]bool), accepted: make(map[string]bool)}
	var err error
	if r.slipway, err = build.Slipway(t.Context(), bin); err != nil {
		t.Fatal(err)
	}
	if r.oracle, err = oracleProgram(t.Context(), bin); err != nil {
		t.Fatal(err)
	}
	if r.definitions, err = oracle.Definitions(t.Context(), r.oracle); err != nil {
		t.Fatal(err)
	}
	return r
}

// judgeDraw: enough mutants must be right, and every marker must be in one.
func (r *ranch) judgeDraw(t *testing.T) {
	t.Helper()
	share := 4
	if *versionFlag != "" {
		share = 8 // old versions refuse more
	}
	if r.tally.generated*share < int(*mutantsFlag) {
		t.Errorf("only %d of %d mutants are right: the comparison proves little", r.tally.generated, *mutantsFlag)
	}
	for _, d := range r.definitions {
		if !r.drawn[markerName(d)] {
			t.Errorf("no mutant has the marker +%s", markerName(d))
		}
	}
}

func markerName(d oracle.Definition) string { return d.Name + " " + d.Target }

// alwaysWrong is a marker that controller-gen knows to refuse it, where it looks at the field.
const alwaysWrong = "k8s:enum field"

// exercise compares plain mutants of each marker that no mutant had of which files were made, and one must be right.
func (r *ranch) exercise(t *testing.T) {
	const each = 12
	var mutants []namedMutant
	for i, d := range r.definitions {
		if r.accepted[markerName(d)] || markerName(d) == alwaysWrong {
			continue
		}
		for seed := range uint64(each) {
			name := fmt.Sprintf("plain%d-%d", i, seed)
			mutants = append(mutants, namedMutant{name, mutant.Plain(seed, "example.com/"+name, r.definitions, d)})
		}
	}
	r.compare(t, mutants)
	for _, d := range r.definitions {
		if name := markerName(d); !r.accepted[name] && name != alwaysWrong {
			t.Errorf("files are made of no mutant that has the marker +%s", name)
		}
	}
	t.Logf("%d plain mutants; files were made of mutants with %d of %d markers", len(mutants), len(r.accepted), len(r.definitions))
}

// draw makes the mutants of seeds in a row.
func (r *ranch) draw(first, count uint64) []namedMutant {
	var drawn []namedMutant
	for seed := first; seed < first+count; seed++ {
		name := mutantName(seed)
		drawn = append(drawn, namedMutant{name, mutant.New(seed, "example.com/"+name, r.definitions)})
	}
	return drawn
}

// namedMutant is a mutant with its folder.
type namedMutant struct {
	name string
	mutant.Source
}

// compare compares mutants, which share a module.
func (r *ranch) compare(t *testing.T, mutants []namedMutant) {
	t.Helper()
	h := r.gather(t, mutants)
	for _, m := range mutants {
		same, difference := h.compare(t, m.name, m.Source)
		if difference != "" {
			t.Errorf("%s: options %q\n%s", m.name, m.Options, difference)
		}
		r.count(m.Source, same, difference != "")
	}
}

// count counts a mutant by the result of controller-gen's that was ours.
func (r *ranch) count(source mutant.Source, same oracle.Variant, different bool) {
	switch {
	case different:
		r.tally.different++
	case same.Panic != "":
		r.tally.crashed++
	case same.Failed():
		r.tally.failed++
	case len(same.Files) == 0:
		r.tally.empty++
	default:
		r.tally.generated++
		for _, m := range source.Markers {
			r.accepted[m] = true
		}
	}
}

func mutantName(seed uint64) string { return fmt.Sprintf("m%d", seed) }
