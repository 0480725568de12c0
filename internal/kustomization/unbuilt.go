package kustomization

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// What kustomize says of a file, somewhere in the account of how it came to it.
var (
	missing   = lazy.Regexp(`lstat ([^:']+): (no such file or directory|not a directory|permission denied)`)
	malformed = lazy.Regexp(`MalformedYAMLError: (?:yaml: )?(.+) in File: ([^\s':]+)`)
	recursed  = lazy.Regexp(`recursed accumulation of path '([^']+)'`)
	lineOf    = lazy.Regexp(`^line (\d+): (.+)$`)
	absent    = lazy.Regexp(`unable to find one of '[^']+'.* in directory '([^']+)'`)
	invalid   = lazy.Regexp(`invalid Kustomization: (?:json: )?(.+)`)
)

// reason is the innermost of what kustomize says, without the account around it.
type reason struct {
	text  string
	whole error
}

func (r reason) Error() string { return r.text }
func (r reason) Unwrap() error { return r.whole }

// Unbuilt is the refusal of a kustomization in dir that kustomize does not build: with the file and the innermost
// reason where kustomize's account has them, else with all of it; found says which.
func Unbuilt(dir string, err error) (refused *report.Error, found bool) {
	refused = &report.Error{Class: report.BadProject, What: "the kustomization does not build", Where: dir, Err: err}
	text := err.Error()
	if parts := absent().FindStringSubmatch(text); parts != nil {
		_, none := kustomizationIn(parts[1])
		if none, ok := errors.AsType[*report.Error](none); ok {
			none.Err, none.Hint = reason{"no such file", err}, none.Hint+near(parts[1])
			return none, true
		}
	}
	if all := missing().FindAllStringSubmatch(text, -1); all != nil {
		last := all[len(all)-1]
		refused.Where, refused.Err = last[1], reason{last[2], err}
		if strings.HasPrefix(text, "accumulating") {
			refused.Hint = "a kustomization lists this file: correct its path there, or add the file"
		} else {
			refused.Hint = strings.TrimPrefix(near(last[1]), "; ")
		}
		return refused, true
	}
	if parts := malformed().FindStringSubmatch(text); parts != nil {
		folder := dir // that the file's name starts from
		if inner := recursed().FindAllStringSubmatch(text, -1); inner != nil {
			folder = inner[len(inner)-1][1]
		}
		refused.Where, refused.Err = parts[2], reason{parts[1], err}
		if !filepath.IsAbs(parts[2]) {
			refused.Where = filepath.Join(folder, parts[2])
		}
		refused.Hint = "correct this file, or take it out of the kustomization that lists it"
		if line := lineOf().FindStringSubmatch(parts[1]); line != nil {
			refused.Where, refused.Err = refused.Where+":"+line[1], reason{line[2], err}
		}
		return refused, true
	}
	if parts := invalid().FindStringSubmatch(text); parts != nil {
		refused.Err = reason{parts[1], err}
		return refused, true
	}
	return refused, false
}

// maxNear is how many folders a hint lists.
const maxNear = 5

// near is the end of a hint, which lists folders with a kustomization: those in a folder, or else in the one
// above; "" where there are none.
func near(dir string) string {
	for range 2 {
		var found []string
		for _, pattern := range []string{"*", "*/*"} {
			folders, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))) // a name with a [ has none
			for _, folder := range folders {
				if len(found) < maxNear && In(folder) {
					found = append(found, folder)
				}
			}
		}
		if len(found) > 0 {
			return "; folders with a kustomization: " + strings.Join(found, ", ")
		}
		dir = filepath.Dir(dir)
	}
	return ""
}
