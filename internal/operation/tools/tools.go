// Package tools manages slipway itself: links in place of other tools, its release, and its cache.
package tools

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// ToolFolder is where kubebuilder's Makefiles look for their tools.
const ToolFolder = "bin"

// LinkTools creates links to slipway under the names and versions of the tools that it stands in for. An empty dir
// means ToolFolder, which must not be a link out of the project. Force replaces files that neither slipway nor the go
// command made. It returns the changes, including those before an error.
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
	if _, err := generate.Supports(tools.Versions["controller-gen"], "", ""); err != nil {
		s.Handler.Handle(report.Warning{Text: err.Error() + ": bin/controller-gen refuses to run"})
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

// warnObstacles warns of lines that keep make from using the links in a folder.
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

// builtTool matches the folder in Go's build cache of a program for go tool; see cmd/go/internal/cache.
var builtTool = lazy.Regexp(`^[0-9a-f]{64}-d$`)

// inBuildCache reports whether go tool keeps the program in Go's build cache.
func inBuildCache(program string) bool {
	return builtTool().MatchString(filepath.Base(filepath.Dir(program)))
}

// UnlinkTools removes what [LinkTools] created. It returns the changes, including those before an error.
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

// toolRoot returns the folder whose Makefile the links are for: the working folder if its Makefile installs tools, else
// the project's.
func toolRoot(s *operation.Session) (string, error) {
	tools, err := s.Codebase(s.Dir).Tools()
	if err != nil || len(tools.Versions)+len(tools.Unknown) > 0 {
		return s.Dir, err
	}
	root, err := operation.ProjectRootOrNone(s)
	return cmp.Or(root, s.Dir), err
}

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
	return toollink.Folder{Path: filepath.Join(root, ToolFolder), Program: program}, refuseLinkedBin(s, root)
}

// refuseLinkedBin refuses a bin that links out of the project: commands elsewhere would be replaced.
func refuseLinkedBin(s *operation.Session, root string) error {
	here, err := safefs.OpenFolder(root)
	if err != nil {
		return err
	}
	_, err = here.Resolve(ToolFolder)
	if _, out := errors.AsType[*safefs.OutsideError](err); out {
		outside := &report.Error{Class: report.BadProject, What: "the folder of tools is outside this folder", Where: s.FromHere(root, ToolFolder), Err: err, Hint: "nothing was changed; name the folder to use it"}
		if root == s.Dir {
			outside.Next = "slipway tools link bin"
		}
		err = outside
	}
	return errors.Join(err, here.Close())
}

// linksFrom returns the folder that paths in messages are relative to: the project's, or the working folder for a named
// dir.
func linksFrom(s *operation.Session, root, dir string) string {
	if dir != "" {
		return s.Dir
	}
	return root
}

// reportLinks reports the changes, with paths relative to from.
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
