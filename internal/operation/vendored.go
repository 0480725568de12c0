package operation

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// WarnStaleVendor warns of a vendor folder that lacks modules of go.mod, with which the go command refuses to work. It
// reports whether it warned.
func WarnStaleVendor(s *Session, root string) bool {
	dir, command := root, "go mod vendor"
	text, err := safefs.ReadFile(filepath.Join(dir, "vendor", "modules.txt"))
	if err != nil {
		dir, command = filepath.Dir(root), "go work vendor"
		text, err = safefs.ReadFile(filepath.Join(dir, "vendor", "modules.txt"))
		if err != nil || !bytes.HasPrefix(text, []byte("## workspace")) {
			return false
		}
	}
	gomod, err := safefs.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || vendored(gomod, text) {
		return false
	}
	s.Handler.Handle(report.Warning{Text: "go.mod changed, and " + filepath.Join(filepath.Base(dir), "vendor") + " lacks some of its modules: " +
		command + " && slipway generate"})
	return true
}

// vendored reports whether modules.txt of a vendor folder has all modules that go.mod requires. An invalid go.mod is
// left to the go command.
func vendored(gomod, modules []byte) bool {
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil {
		return true
	}
	explicit, current := map[string]bool{}, ""
	for lines := bufio.NewScanner(bytes.NewReader(modules)); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "# "):
			current, _, _ = strings.Cut(strings.TrimPrefix(line, "# "), " => ")
		case strings.HasPrefix(line, "## explicit"):
			explicit[current] = true
		}
	}
	for _, r := range file.Require {
		if !explicit[r.Mod.Path+" "+r.Mod.Version] {
			return false
		}
	}
	return true
}
