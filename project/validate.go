package project

import (
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// The limits of Kubernetes on names (RFC 1123 labels and subdomains) in bytes.
const (
	maxLabel     = 63
	maxSubdomain = 253
)

// reservedFolders have a meaning of their own to the go command.
var reservedFolders = []string{"internal", "testdata", "vendor"}

var (
	labelPattern   = lazy.Regexp(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	versionPattern = lazy.Regexp(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	kindPattern    = lazy.Regexp(`^[A-Z][A-Za-z0-9]*$`)
)

// ValidateDomain checks the suffix of a project's API groups. The error is a
// [*FieldError], as for all functions of this kind.
func ValidateDomain(domain string) error {
	return subdomain("domain", domain, "a DNS name in lower case, such as example.com")
}

// ValidateName checks the name of a project, which becomes part of the names of
// its objects.
func ValidateName(name string) error {
	return label("project name", name, "lower-case letters, digits and dashes, at most 63, such as my-operator")
}

// ValidateRepo checks the path of a project's Go module.
func ValidateRepo(repo string) error {
	const expected = "a Go module path, such as github.com/me/my-operator"
	if repo == "" {
		return &FieldError{Field: "module path", Problem: "is empty", Expected: expected}
	}
	if err := module.CheckImportPath(repo); err != nil {
		return &FieldError{Field: "module path", Value: repo, Problem: importProblem(err), Expected: expected}
	}
	return nil
}

// importProblem takes the reason out of an error of x/mod, which repeats the path.
func importProblem(err error) string {
	var invalid *module.InvalidPathError
	if errors.As(err, &invalid) && invalid.Err != nil {
		return "is not usable: " + invalid.Err.Error()
	}
	return "is not usable: " + err.Error()
}

// ValidateGroup checks a group without its domain; the empty group is allowed.
func ValidateGroup(group string) error {
	const expected = "lower-case letters, digits, dashes and dots, such as batch"
	if group == "" {
		return nil
	}
	if err := subdomain("group", group, expected); err != nil {
		return err
	}
	if pkg := packageName(group); !token.IsIdentifier(pkg) && !startsWithDigit(pkg) {
		return &FieldError{Field: "group", Value: group, Problem: fmt.Sprintf("would make a Go package named %s, which Go reserves", pkg), Expected: expected}
	}
	if slices.Contains(reservedFolders, group) {
		return &FieldError{Field: "group", Value: group, Problem: "would make a folder whose packages Go hides", Expected: expected}
	}
	return nil
}

// ValidateVersion checks an API version.
func ValidateVersion(version string) error {
	if versionPattern().MatchString(version) {
		return nil
	}
	return required("version", version, "is not an API version", "v1, v1beta1 or v2alpha1")
}

// ValidateKind checks a kind.
func ValidateKind(kind string) error {
	const expected = "a name in CamelCase, at most 63 letters and digits, such as CronJob"
	switch {
	case kind == "":
		return required("kind", kind, "", expected)
	case len(kind) > maxLabel:
		return &FieldError{Field: "kind", Value: kind, Problem: fmt.Sprintf("is %d characters long", len(kind)), Expected: expected}
	case unicode.IsLower(rune(kind[0])):
		return &FieldError{Field: "kind", Value: kind, Problem: "starts with a lower-case letter", Expected: expected}
	case !kindPattern().MatchString(kind):
		return &FieldError{Field: "kind", Value: kind, Problem: "is not CamelCase", Expected: expected}
	case kind == "List":
		return &FieldError{Field: "kind", Value: kind, Problem: "is a kind that Kubernetes reserves", Expected: expected}
	}
	return nil
}

// ValidatePlural checks the plural of a kind; empty means the usual one.
func ValidatePlural(plural string) error {
	if plural == "" {
		return nil
	}
	return label("plural", plural, "lower-case letters, digits and dashes, at most 63, such as cronjobs")
}

// ValidateController checks the name of a controller; empty means the usual one.
func ValidateController(name string) error {
	if name == "" {
		return nil
	}
	return label("controller-name", name, "lower-case letters, digits and dashes, a letter first, such as nightly-jobs")
}

// Validate checks the names of r and that they fit together.
func (r Resource) Validate() error {
	for _, err := range []error{
		ValidateGroup(r.Group), ValidateVersion(r.Version), ValidateKind(r.Kind), ValidatePlural(r.Plural),
	} {
		if err != nil {
			return err
		}
	}
	if r.Group == "" && r.Domain == "" && !r.Core {
		return &FieldError{Field: "group", Problem: "is empty, and so is the domain", Expected: "a group, such as batch"}
	}
	if name := r.QualifiedGroup(); len(name) > maxSubdomain {
		return &FieldError{Field: "group", Value: name, Problem: fmt.Sprintf("is %d characters long with its domain", len(name)), Expected: "at most 253"}
	}
	return nil
}

// subdomain checks a DNS subdomain name (RFC 1123).
func subdomain(field, value, expected string) error {
	switch {
	case value == "":
		return required(field, value, "", expected)
	case len(value) > maxSubdomain:
		return &FieldError{Field: field, Value: value, Problem: fmt.Sprintf("is %d characters long", len(value)), Expected: expected}
	}
	for part := range strings.SplitSeq(value, ".") {
		if problem := labelProblem(part); problem != "" {
			return &FieldError{Field: field, Value: value, Problem: problem, Expected: expected}
		}
	}
	return nil
}

// label checks a DNS label (RFC 1123).
func label(field, value, expected string) error {
	if value == "" {
		return required(field, value, "", expected)
	}
	if problem := labelProblem(value); problem != "" {
		return &FieldError{Field: field, Value: value, Problem: problem, Expected: expected}
	}
	return nil
}

// labelProblem says what keeps s from being a DNS label, or nothing.
func labelProblem(s string) string {
	switch {
	case s == "":
		return "has an empty part between dots"
	case len(s) > maxLabel:
		return fmt.Sprintf("has a part of %d characters", len(s))
	case strings.ToLower(s) != s:
		return "has an upper-case letter"
	case !labelPattern().MatchString(s):
		return "is not a DNS name"
	}
	return ""
}

// required reports a missing value, or problem when there is one.
func required(field, value, problem, expected string) error {
	if value == "" {
		problem = "is missing"
	}
	return &FieldError{Field: field, Value: value, Problem: problem, Expected: expected}
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
