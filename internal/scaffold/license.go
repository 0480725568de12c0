package scaffold

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Licenses are the names that [Project.License] may have.
var Licenses = []string{"apache2", "none"}

// boilerplateFile is the comment that stands at the top of every Go file.
const boilerplateFile = "hack/boilerplate.go.txt"

// licenseHeader returns the content of the boilerplate file, without a newline at
// its end.
func (o Project) licenseHeader() (string, error) {
	if o.LicenseText != "" {
		return checkComment(asComment(o.LicenseText), "--license-file")
	}
	switch o.License {
	case "apache2", "":
		return checkComment(fmt.Sprintf("// Copyright %d %s\n// SPDX-License-Identifier: Apache-2.0", o.Year, o.holder()), "--owner")
	case "none":
		return "", nil
	}
	return "", &report.Error{
		What:  fmt.Sprintf("unknown license %q", o.License),
		Where: "--license",
		Hint:  "one of " + strings.Join(Licenses, ", ") + "; any other: --license-file FILE",
	}
}

func (o Project) holder() string {
	if o.Owner != "" {
		return o.Owner
	}
	return "The " + o.Name + " authors"
}

// asComment makes text a Go comment unless it is one.
func asComment(text string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/*") {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight("// "+line, " \t") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// checkComment returns a header that Go can have above its package clause, and refuses
// any other, which came from flag.
func checkComment(header, flag string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", boilerplate(header)+"package p\n", parser.ParseComments)
	if err == nil && file.Name.Name == "p" && len(file.Decls) == 0 {
		return header, nil
	}
	return "", &report.Error{
		What: "the license header would not be a comment of a Go file", Where: flag, Err: err,
		Hint: "expected plain text, or a whole comment: // at every line, or /* … */",
	}
}

// boilerplate is what stands above the package clause or its doc.
func boilerplate(header string) string {
	if header = strings.TrimSpace(header); header == "" {
		return ""
	}
	return header + "\n\n"
}
