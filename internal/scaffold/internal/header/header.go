// Package header maintains the text at the top of a project's Go files, its license, in hack/boilerplate.go.txt.
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

// Licenses are the values of [License.Name].
var Licenses = []string{"apache2", "none"}

// A License is the text at the top of a project's Go files.
type License struct {
	Name  string // one of Licenses; default: apache2
	Owner string // copyright holder; default: the authors of the project
	Text  string // replaces all other fields
	Year  int    // of the copyright
}

// Comment returns the content of the boilerplate file for a project, without the final newline.
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

// asComment turns text into a Go comment, unless it is one.
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

// checkComment refuses a header that Go cannot have above a package clause. Flag is where the header comes from.
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

// Boilerplate is the header with an empty line below it, or "".
func Boilerplate(header string) string {
	if header = strings.TrimSpace(header); header == "" {
		return ""
	}
	return header + "\n\n"
}

// Read reads the header of the project's Go files. For a plan that records, an invalid header is no error.
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

// Relicense changes the header of Go files that are scaffolded or generated from now on; existing files keep theirs. It
// replaces the copyright holder only by one that the user names.
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

var apache = lazy.Regexp(`Apache License|SPDX-License-Identifier: Apache-2\.0`)

// keepsHolder reports whether the header stays, since it has this license already and the user names no other holder.
// It refuses to replace a holder under another license by the default one.
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
		Code: report.UsageCode,
	}
}
