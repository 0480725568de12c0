// Package header keeps what stands at the top of a project's Go files: its license, in hack/boilerplate.go.txt.
package header

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
	"github.com/slipway-dev/slipway/project"
)

// Licenses are the names that a [License] may have.
var Licenses = []string{"apache2", "none"}

// A License says what stands at the top of a project's Go files.
type License struct {
	Name  string // one of Licenses; default apache2
	Owner string // copyright holder; default: the authors of the project
	Text  string // of a header to use instead
	Year  int    // of the copyright
}

// Comment returns the content of the boilerplate file of the project called name,
// without a newline at its end.
func (l License) Comment(name string) (string, error) {
	if l.Text != "" {
		return checkComment(asComment(l.Text), "--license-file")
	}
	switch l.Name {
	case "apache2", "":
		return checkComment(fmt.Sprintf("// Copyright %d %s\n// SPDX-License-Identifier: Apache-2.0", l.Year, cmp.Or(l.Owner, "The "+name+" authors")), "--owner")
	case "none":
		return "", nil
	}
	return "", &report.Error{
		What:  fmt.Sprintf("unknown license %q", l.Name),
		Where: "--license",
		Hint:  "use one of " + strings.Join(Licenses, ", ") + ", or --license-file FILE for another one",
	}
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
	file, err := parser.ParseFile(token.NewFileSet(), "", Boilerplate(header)+"package p\n", parser.ParseComments)
	if err == nil && file.Name.Name == "p" && len(file.Decls) == 0 {
		return header, nil
	}
	return "", &report.Error{
		What: "the license header is not a comment in Go", Where: flag, Err: err,
		Hint: "use plain text, or a whole comment: // at every line, or /* … */",
	}
}

// Boilerplate is what stands above the package clause or its doc.
func Boilerplate(header string) string {
	if header = strings.TrimSpace(header); header == "" {
		return ""
	}
	return header + "\n\n"
}

// Read reads what stands at the top of the project's Go files. A plan that records
// writes nothing below it, so that it may be wrong.
func Read(p *plan.Plan) (string, error) {
	license, err := p.Code().License()
	if err != nil {
		return "", err
	}
	header, err := checkComment(license.Text, license.File+":1")
	if err != nil && !p.Recording() {
		return "", err
	}
	return Boilerplate(header), nil
}

// Relicense changes the header that generated and scaffolded Go files begin with. Files
// that are there keep theirs, except for those that are generated again. A header names a holder of the copyright, who
// is replaced only by another one that is named.
func Relicense(l License) func(*plan.Plan, *project.Project) error {
	return func(p *plan.Plan, file *project.Project) error {
		header, err := l.Comment(file.Name)
		if err != nil {
			return err
		}
		content, err := templates.Render("init/"+codebase.HeaderFile, map[string]any{"License": header})
		if err != nil {
			return err
		}
		there, err := p.Code().License()
		if err != nil {
			return err
		}
		own := there.File
		if own == "" {
			return p.Create(codebase.HeaderFile, content)
		}
		if keep, err := l.keepsHolder(p, own); keep || err != nil {
			return err
		}
		return p.Edit(own, func(string, []byte) ([]byte, error) { return content, nil })
	}
}

// apache matches a header of the Apache License, in full or by its identifier.
var apache = lazy.Regexp(`Apache License|SPDX-License-Identifier: Apache-2\.0`)

// keepsHolder reports whether the header stays, since it is of this license already and no other holder of the
// copyright is named. It refuses to put the default holder in the place of one under another license.
func (l License) keepsHolder(p *plan.Plan, own string) (bool, error) {
	c, err := p.Find(own)
	if err != nil || l.Text != "" || l.Name == "none" || l.Owner != "" || strings.TrimSpace(string(c.After())) == "" {
		return false, err
	}
	if apache().Match(c.After()) {
		return true, p.Keep(own, "it has the Apache License already; --owner names another holder")
	}
	return false, &report.Error{
		What: "the project has a license header, whose holder of the copyright would be replaced", Where: own + ":1",
		Hint: "nothing was changed; name the holder for the new header", Next: "slipway edit --license apache2 --owner 'Example Ltd.'",
	}
}
