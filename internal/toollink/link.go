package toollink

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// StandsFor is the variable in which a script reports slipway the version that the Makefile asks for.
const StandsFor = "SLIPWAY_STANDS_FOR"

// CalledAs is the variable in which a script reports slipway its own name, which some tools write into files.
const CalledAs = "SLIPWAY_CALLED_AS"

// signature is the line by which a script is known as ours.
const signature = "# Made by slipway tools link.\n"

// Link puts all tools into the folder.
func (f Folder) Link() ([]Change, error) {
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return nil, cannotWrite(f.Path, err)
	}
	var changes []Change
	for _, name := range Names() {
		made, err := f.linkTool(name)
		changes = append(changes, made...)
		if err != nil {
			return changes, err
		}
	}
	return changes, refresh(changes)
}

// refresh makes the scripts younger than their folder: make takes a tool for out of date that is older than the folder
// which it depends on.
func refresh(changes []Change) error {
	now := time.Now()
	for _, c := range changes {
		if c.Action == report.Kept {
			continue
		}
		if err := os.Chtimes(c.Path, now, now); err != nil {
			return cannotWrite(c.Path, err)
		}
	}
	return nil
}

// linkTool makes the script of a tool and, where the tool has a version, the link to it.
func (f Folder) linkTool(name string) ([]Change, error) {
	link := filepath.Join(f.Path, name)
	version := f.Versions[name]
	if version == "" {
		change, err := f.put(link, name, func(path string) error { return f.writeScript(path, name, "") })
		return []Change{change}, err
	}
	script := link + "-" + version
	first, err := f.put(script, name, func(path string) error { return f.writeScript(path, name, version) })
	if err != nil || first.Action == report.Kept {
		return []Change{first}, err
	}
	second, err := f.put(link, name, func(path string) error { return os.Symlink(script, path) })
	return []Change{first, second}, err
}

// script is the text of a tool's script.
func (f Folder) script(name, version string) string {
	variables := CalledAs + `="$0" `
	if version != "" {
		variables += StandsFor + "=" + quote(version) + " "
	}
	return "#!/bin/sh\n" + signature + variables + "exec " + quote(f.Program) + " " + name + " \"$@\"\n"
}

// quote makes a text one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (f Folder) writeScript(path, name, version string) error {
	return os.WriteFile(path, []byte(f.script(name, version)), 0o755)
}

// put makes a file beside path and renames it, unless path is the same already or somebody else's.
func (f Folder) put(path, name string, write func(path string) error) (Change, error) {
	temp, err := os.MkdirTemp(f.Path, ".slipway-")
	if err != nil {
		return Change{}, cannotWrite(path, err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	made := filepath.Join(temp, name)
	if err := write(made); err != nil {
		return Change{}, cannotWrite(path, err)
	}
	change := Change{Path: path, Action: report.Updated}
	found := f.whose(path, name)
	switch {
	case errors.Is(found.err, fs.ErrNotExist):
		change.Action = report.Created
	case same(made, path):
		change.Action = report.Unchanged
		return change, nil
	case found.owner == "" && !f.Force:
		change.Action, change.Why = report.Kept, "neither slipway nor the go command made it; --force replaces it"
		return change, nil
	default:
		change.Why = found.owner
	}
	if err := os.Rename(made, path); err != nil {
		return Change{}, cannotWrite(path, err)
	}
	return change, nil
}

// found is whose a file is; "" is somebody else's.
type found struct {
	owner string
	err   error
}

// whose finds out who made a file: a script or link of ours, or the go command.
func (f Folder) whose(path, name string) found {
	info, err := os.Lstat(path)
	if err != nil {
		return found{err: err}
	}
	if target, err := os.Stat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if program, err := os.Stat(f.Program); err == nil && os.SameFile(program, target) {
			return found{owner: "it was a link to slipway"}
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		return found{owner: "it was a broken link"}
	}
	if isScript(path) {
		return found{owner: "slipway had made it for another version or folder"}
	}
	built, err := buildinfo.ReadFile(path)
	if err == nil && (built.Path == packages[name] || strings.HasPrefix(built.Path, packages[name]+"/")) {
		return found{owner: fmt.Sprintf("it was %s %s, installed by the go command", name, built.Main.Version)}
	}
	return found{}
}

// isScript tells whether a file, or what it links to, is a script of ours.
func isScript(path string) bool {
	content, err := safefs.ReadFile(path)
	return err == nil && bytes.HasPrefix(content, []byte("#!/bin/sh\n"+signature))
}

// same tells whether two files are equal scripts, or links to the same path.
func same(a, b string) bool {
	toA, errA := os.Readlink(a)
	toB, errB := os.Readlink(b)
	if errA == nil || errB == nil {
		return errA == nil && errB == nil && toA == toB
	}
	contentA, errA := safefs.ReadFile(a)
	contentB, errB := safefs.ReadFile(b)
	info, err := os.Stat(b)
	return errA == nil && errB == nil && err == nil && bytes.Equal(contentA, contentB) && info.Mode().Perm()&0o100 != 0
}

// Unlink removes what Link made: scripts, and links to them.
func (f Folder) Unlink() ([]Change, error) {
	entries, err := os.ReadDir(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &report.Error{What: "the folder cannot be read", Where: f.Path, Err: err}
	}
	var ours []string
	for _, e := range entries {
		if path := filepath.Join(f.Path, e.Name()); isScript(path) {
			ours = append(ours, path)
		}
	}
	var changes []Change
	for _, path := range ours {
		if err := os.Remove(path); err != nil {
			return changes, cannotWrite(path, err)
		}
		changes = append(changes, Change{Path: path, Action: report.Deleted})
	}
	return changes, nil
}

func cannotWrite(path string, err error) error {
	return &report.Error{What: "cannot write to the folder of tools", Where: path, Err: err, Hint: "use a folder that you may write to"}
}
