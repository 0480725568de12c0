package manager

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// mainsBelowCmd are the main.go files in folders of cmd, as projects of kubebuilder 1 have them.
func mainsBelowCmd(p *plan.Plan) (mains []*plan.File, err error) {
	folders, err := os.ReadDir(filepath.Join(p.Root(), "cmd"))
	if err != nil {
		return nil, nil // there is none
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		c, err := p.Find("cmd/" + folder.Name() + "/main.go")
		if err != nil {
			return nil, err
		}
		if c.There() {
			mains = append(mains, c)
		}
	}
	return mains, nil
}

// likeliest are the mains that kinds may be added to: those with the insertion point or, without any, those that make a
// manager. Of several it is the one that sets up what is added: one for controllers may stand beside one for webhooks
// and one for metrics, with a manager each.
func likeliest(mains []*plan.File, setsUp ...func([]byte) bool) (names []string) {
	candidates := mains
	for _, is := range []func([]byte) bool{hasInsertionPoint, makesManager} {
		if candidates = with(mains, is); len(candidates) > 0 {
			break
		}
	}
	for _, is := range setsUp {
		if some := with(candidates, is); len(some) > 0 {
			candidates = some
			break
		}
	}
	for _, c := range candidates {
		names = append(names, c.Path())
	}
	return names
}

func hasInsertionPoint(src []byte) bool { return bytes.Contains(src, []byte("+"+insertionPoint)) }

func makesManager(src []byte) bool { return bytes.Contains(src, []byte("NewManager(")) }

// with are the files whose text is so.
func with(files []*plan.File, is func([]byte) bool) (some []*plan.File) {
	for _, c := range files {
		if is(c.After()) {
			some = append(some, c)
		}
	}
	return some
}
