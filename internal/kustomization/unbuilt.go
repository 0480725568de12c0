package kustomization

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// What kustomize says of a file, somewhere in the account of how it came to it.
var (
	missing   = lazy.Regexp(`lstat ([^:']+): (no such file or directory|not a directory|permission denied)`)
	malformed = lazy.Regexp(`MalformedYAMLError: (?:yaml: )?(.+) in File: ([^\s':]+)`)
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
	refused = &report.Error{What: "the kustomization does not build", Where: dir, Err: err}
	text := err.Error()
	if all := missing().FindAllStringSubmatch(text, -1); all != nil {
		last := all[len(all)-1]
		refused.Where, refused.Err = last[1], reason{last[2], err}
		if strings.HasPrefix(text, "accumulating") {
			refused.Hint = "a kustomization lists this file: correct its path there, or add the file"
		}
		return refused, true
	}
	if parts := malformed().FindStringSubmatch(text); parts != nil {
		refused.Where, refused.Err = parts[2], reason{parts[1], err}
		return refused, true
	}
	if parts := invalid().FindStringSubmatch(text); parts != nil {
		refused.Err = reason{parts[1], err}
		return refused, true
	}
	return refused, false
}
