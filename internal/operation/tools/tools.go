// Package tools is about slipway itself: the programs that it stands in for, its release, and its cache.
package tools

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// ToolFolder is where the Makefile of a project looks for its tools.
const ToolFolder = "bin"

// LinkTools puts links to slipway into a folder, under the names and versions of the tools that it stands for. An
// empty folder means ToolFolder, which must not lead elsewhere then. Force replaces files that neither slipway nor
// the go command made. It returns what became of each file, also of those before one that failed.
func LinkTools(s *operation.Session, dir string, force bool) ([]toollink.Change, error) {
	root, err := toolRoot(s)
	if err != nil {
		return nil, err
	}
	folder, err := toolFolder(s, root, dir)
	if err != nil {
		return nil, err
	}
	folder.Force = force
	tools, err := s.Codebase(root).Tools()
	if err != nil {
		return nil, err
	}
	for _, variable := range tools.Unknown {
		s.Handler.Handle(report.Warning{Text: "the Makefile computes " + variable + ": the link has no version, and make may install its own tool"})
	}
	if line := tools.Inspects; line > 0 {
		s.Handler.Handle(report.Warning{Text: fmt.Sprintf("Makefile:%d looks into a tool's file for its version (go version -m), where a script has none: "+
			"have make leave the tools as they are: make -o controller-gen -o kustomize manifests", line)})
	}
	warnObstacles(s, root, folder.Path, tools.Obstacles)
	folder.Versions = tools.Versions
	if inBuildCache(folder.Program) {
		s.Handler.Handle(report.Warning{Text: "go tool keeps slipway in Go's build cache, which deletes unused files after some days: link again if a link fails, and after each update"})
	}
	changes, err := folder.Link()
	reportLinks(s, linksFrom(s, root, dir), changes, "linked")
	return changes, err
}

// warnObstacles warns of lines of the Makefile for which make does not use the links in a folder.
func warnObstacles(s *operation.Session, root, folder string, found []makefile.Obstacle) {
	bin := folder
	if rel, err := filepath.Rel(root, folder); err == nil && filepath.IsLocal(rel) {
		bin = rel
	}
	for _, o := range found {
		switch onPath := slices.Contains(filepath.SplitList(s.Getenv("PATH")), folder); {
		case o.Target != "":
			s.Handler.Handle(report.Warning{Text: fmt.Sprintf("%s:%d installs %s whatever is there, in place of the link: begin the command with `test -s %s ||`, or run make -o %s",
				o.File, o.Line, o.Tool, shellword.Quote(filepath.Join(bin, o.Tool)), o.Target)})
		case !onPath:
			s.Handler.Handle(report.Warning{Text: fmt.Sprintf("%s:%d takes %s from PATH, where the link is not: put its folder first, as with `PATH=%s:$PATH make`",
				o.File, o.Line, o.Tool, shellword.Quote(folder))})
		}
	}
}

// builtTool is the folder in which the go command keeps a program for go tool: cmd/go/internal/cache.
var builtTool = lazy.Regexp(`^[0-9a-f]{64}-d$`)

// inBuildCache reports whether a program lies where go tool puts it.
func inBuildCache(program string) bool {
	return builtTool().MatchString(filepath.Base(filepath.Dir(program)))
}

// UnlinkTools removes from a folder what LinkTools made. It returns what became of each file, also of those before one
// that failed.
func UnlinkTools(s *operation.Session, dir string) ([]toollink.Change, error) {
	root, err := toolRoot(s)
	if err != nil {
		return nil, err
	}
	folder, err := toolFolder(s, root, dir)
	if err != nil {
		return nil, err
	}
	changes, err := folder.Unlink()
	reportLinks(s, linksFrom(s, root, dir), changes, "unlinked")
	return changes, err
}

// toolRoot is the folder whose Makefile the links are for: the working folder if its Makefile has tools, or else the
// project's, as for other verbs.
func toolRoot(s *operation.Session) (string, error) {
	tools, err := s.Codebase(s.Dir).Tools()
	if err != nil || len(tools.Versions)+len(tools.Unknown) > 0 {
		return s.Dir, err
	}
	root, err := operation.ProjectRootOrNone(s)
	return cmp.Or(root, s.Dir), err
}

// toolFolder is the folder that is meant.
func toolFolder(s *operation.Session, root, dir string) (toollink.Folder, error) {
	if runtime.GOOS == "windows" {
		return toollink.Folder{}, &report.Error{What: "links to tools do not work on Windows", Hint: "copy slipway.exe to controller-gen.exe, kustomize.exe and setup-envtest.exe"}
	}
	program, err := os.Executable()
	if err != nil {
		return toollink.Folder{}, err
	}
	if dir != "" {
		return toollink.Folder{Path: s.Absolute(dir), Program: program}, nil
	}
	operation.NoteNestedProject(s, root)
	return toollink.Folder{Path: filepath.Join(root, ToolFolder), Program: program}, ownBin(s, root)
}

// ownBin refuses a bin that a repository has as a link to elsewhere, where commands would be replaced.
func ownBin(s *operation.Session, root string) error {
	here, err := safefs.OpenFolder(root)
	if err != nil {
		return err
	}
	_, err = here.Resolve(ToolFolder)
	if _, out := errors.AsType[*safefs.OutsideError](err); out {
		outside := &report.Error{What: "the folder of tools is outside this folder", Where: s.FromHere(root, ToolFolder), Err: err, Hint: "nothing was changed; name the folder to use it"}
		if root == s.Dir {
			outside.Next = "slipway tools link bin"
		}
		err = outside
	}
	return errors.Join(err, here.Close())
}

// linksFrom is the folder from which links are named: the project's, or for a folder of the user's the working folder.
func linksFrom(s *operation.Session, root, dir string) string {
	if dir != "" {
		return s.Dir
	}
	return root
}

// reportLinks reports what happened to each file, named from a folder.
func reportLinks(s *operation.Session, from string, changes []toollink.Change, verb string) {
	changed := 0
	for i := range changes {
		c := &changes[i]
		if rel, err := filepath.Rel(from, c.Path); err == nil && filepath.IsLocal(rel) {
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
	text := fmt.Sprintf("%s: %s changed", verb, operation.Count(changed, "file"))
	if changed == 0 {
		text = "nothing changed"
	}
	s.Handler.Handle(report.Result{Text: text, Value: struct {
		Files []toollink.Change `json:"files"`
	}{changes}})
}
