package generate

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/report"
)

// Result is what a run did.
type Result struct {
	// Files are all files that the generators made, by path.
	Files []File
	// Left are the paths of files that were not made since Options.Without has them, in order.
	Left []string
	// Printed is what outputs to stdout hold, in the order of Uses.
	Printed []byte
	// Findings are the mistakes in the user's code, by position.
	Findings []report.Finding
	// Parsed is the number of Go files that were parsed, Checked that of packages
	// that had to be type-checked because syntax alone was not enough.
	Parsed, Checked int
	// Recalled is set when nothing has changed since an earlier run with the same
	// options. All files are up to date then, and their content is not returned.
	Recalled bool

	memory *inputs.Memory
	parts  []Result // what it was joined from
}

// join is one result of several runs, of which each began when those before it had not failed.
func join(results ...Result) Result {
	all := Result{Recalled: len(results) > 0, parts: results}
	for _, r := range results {
		all.Files = append(all.Files, r.Files...)
		all.Left = append(all.Left, r.Left...)
		all.Printed = append(all.Printed, r.Printed...)
		for _, f := range r.Findings {
			if !slices.Contains(all.Findings, f) { // a package that several runs read has its mistakes once
				all.Findings = append(all.Findings, f)
			}
		}
		all.Parsed += r.Parsed
		all.Checked += r.Checked
		all.Recalled = all.Recalled && r.Recalled
	}
	return all
}

// Failed reports whether a finding is fatal. Then nothing was written.
func (r Result) Failed() bool {
	return slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Fatal })
}

// File is a file that a generator made.
type File struct {
	Path string // absolute
	// Action is what happened to it or, without writing, would happen.
	Action  report.Action
	Content []byte

	remove bool // it is to go
	kept   bool // it is on disk as it has to be
	source generator.Source
	dir    string
}

// Locate finds the Go declaration, or the marker, that a place in a CRD comes from: the place is given as the API
// server writes it, like spec.versions[0].schema.openAPIV3Schema.properties[spec], and the file found is relative to
// the run's folder where it is below that. Ok is false for files that are no CRDs.
func (f File) Locate(path string) (at report.Position, ok bool) {
	if f.source == nil {
		return report.Position{}, false
	}
	found := relative([]report.Finding{{Position: f.source.Locate(path)}}, f.dir)
	return found[0].Position, true
}

// Recursion is the name of the Go type at a place, given as for [File.Locate], if it contains itself there; else "".
func (f File) Recursion(path string) string {
	if f.source == nil {
		return ""
	}
	return f.source.Recursion(path)
}

// Unbounded lists the fields that make a CEL rule at a place costly, as users write them: nothing bounds their length.
func (f File) Unbounded(path string) []string {
	if f.source == nil {
		return nil
	}
	return f.source.Unbounded(path)
}
