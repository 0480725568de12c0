package newproject

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/project"
)

// maxName is how long a project's name may be: with what follows it, the longest
// name of a Service in the scaffold has the 63 characters that Kubernetes allows.
const maxName = 63 - len("-controller-manager-metrics-service")

// validateName checks the name of a new project, which begins the names of objects.
func validateName(name string) error {
	expected := fmt.Sprintf("lower-case letters, digits and dashes, at most %d, a letter first, such as my-operator", maxName)
	err := project.ValidateName(name)
	if known, ok := errors.AsType[*project.FieldError](err); ok {
		known.Expected = expected // narrower than what PROJECT may hold
	}
	if err != nil {
		return err
	}
	e := &project.FieldError{Field: "project name", Value: name, Expected: expected}
	switch {
	case len(name) > maxName:
		e.Problem = fmt.Sprintf("is %d characters long", len(name))
	case name[0] < 'a':
		e.Problem = "does not start with a letter"
	default:
		return nil
	}
	return e
}

var notInName = lazy.Regexp(`[^a-z0-9]+`)

// nameFromFolder makes the folder's name a project name.
func nameFromFolder(root string) string {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	name := notInName().ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-")
	name = strings.TrimLeft(name, "-0123456789")
	return strings.Trim(name[:min(len(name), maxName)], "-")
}
