package operation

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/slipway-dev/slipway/internal/confine"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// ToolFolder is where the Makefile of a project looks for its tools.
const ToolFolder = "bin"

// LinkTools puts links to slipway into a folder, under the names and versions of the tools that it stands for. An
// empty folder means ToolFolder, which must not lead elsewhere then. Force replaces files that neither slipway nor
// the go command made.
func (s *Session) LinkTools(dir string, force bool) error {
	folder, err := s.toolFolder(dir)
	if err != nil {
		return err
	}
	folder.Force = force
	versions, unknown, err := toollink.Versions(s.Dir)
	if err != nil {
		return err
	}
	for _, variable := range unknown {
		s.Handler.Handle(report.Warning{Text: "the Makefile computes " + variable + ": the link has no version, and make may install its own tool"})
	}
	if line := toollink.Inspection(s.Dir); line > 0 {
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf("Makefile:%d looks into a tool's file for its version (go version -m), where a script has none: "+
			"have make leave the tools as they are: make -o controller-gen -o kustomize manifests", line)})
	}
	folder.Versions = versions
	if inBuildCache(folder.Program) {
		s.Handler.Handle(report.Warning{Text: "go tool keeps slipway in Go's build cache, which deletes unused files after some days: link again if a link fails, and after each update"})
	}
	changes, err := folder.Link()
	s.reportLinks(changes, "linked")
	return err
}

// builtTool is the folder in which the go command keeps a program for go tool: cmd/go/internal/cache.
var builtTool = lazy.Regexp(`^[0-9a-f]{64}-d$`)

// inBuildCache reports whether a program lies where go tool puts it.
func inBuildCache(program string) bool {
	return builtTool().MatchString(filepath.Base(filepath.Dir(program)))
}

// UnlinkTools removes from a folder what LinkTools made.
func (s *Session) UnlinkTools(dir string) error {
	folder, err := s.toolFolder(dir)
	if err != nil {
		return err
	}
	changes, err := folder.Unlink()
	s.reportLinks(changes, "unlinked")
	return err
}

// toolFolder is the folder that is meant.
func (s *Session) toolFolder(dir string) (toollink.Folder, error) {
	if runtime.GOOS == "windows" {
		return toollink.Folder{}, &report.Error{What: "links to tools do not work on Windows", Hint: "copy slipway.exe to controller-gen.exe, kustomize.exe and setup-envtest.exe"}
	}
	program, err := os.Executable()
	if err != nil {
		return toollink.Folder{}, err
	}
	if dir == "" {
		err = s.ownBin()
	}
	return toollink.Folder{Path: s.absolute(cmp.Or(dir, ToolFolder)), Program: program}, err
}

// ownBin refuses a bin that a repository has as a link to elsewhere, where commands would be replaced.
func (s *Session) ownBin() error {
	here, err := confine.Open(s.Dir)
	if err != nil {
		return err
	}
	_, err = here.Resolve(ToolFolder)
	if _, out := errors.AsType[*confine.OutsideError](err); out {
		err = &report.Error{What: "the folder of tools is outside this folder", Where: ToolFolder, Err: err, Hint: "nothing was changed; name the folder to use it", Next: "slipway tools link bin"}
	}
	return errors.Join(err, here.Close())
}

// reportLinks tells what happened to each file.
func (s *Session) reportLinks(changes []toollink.Change, verb string) {
	changed := 0
	for i := range changes {
		c := &changes[i]
		if rel, err := filepath.Rel(s.Dir, c.Path); err == nil && filepath.IsLocal(rel) {
			c.Path = rel
		}
		if c.Action != report.Unchanged && c.Action != report.Kept {
			changed++
		}
		if c.Action == report.Kept {
			s.Handler.Handle(report.Warning{Text: c.Path + " is kept: " + c.Why})
			continue
		}
		s.Handler.Handle(report.File{Path: c.Path, Action: c.Action, Why: c.Why})
	}
	text := fmt.Sprintf("%s: %s changed", verb, count(changed, "file"))
	if changed == 0 {
		text = "nothing changed"
	}
	s.Handler.Handle(report.Result{Text: text, Value: struct {
		Files []toollink.Change `json:"files"`
	}{changes}})
}
