package generation

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// fixRounds bounds how often fixes are looked for: a fix may uncover another mistake.
const fixRounds = 5

// fix applies the fixes of all findings, also of those that only strict runs report, until none is left.
func fix(ctx context.Context, s *operation.Session, root string, g Generation) error {
	folder, err := safefs.OpenFolder(root)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	for range fixRounds {
		found, err := fixable(ctx, s, root, g)
		if err != nil || len(found) == 0 {
			return err
		}
		changed := false
		for _, path := range slices.Sorted(maps.Keys(found)) {
			fixed, err := fixFile(s, folder, path, found[path])
			if err != nil {
				return err
			}
			changed = changed || fixed
		}
		if !changed {
			return nil
		}
	}
	return nil
}

// fixable returns the findings with fixes, by the absolute paths of their files. It writes nothing and reports nothing.
func fixable(ctx context.Context, s *operation.Session, root string, g Generation) (map[string][]report.Finding, error) {
	found, mistaken := map[string][]report.Finding{}, false
	quiet := operation.Apart(s)
	quiet.Handler = report.HandlerFunc(func(e report.Event) {
		f, is := e.(report.Finding)
		mistaken = mistaken || is
		if f.Fix != (report.Fix{}) {
			path := f.File
			if !filepath.IsAbs(path) {
				path = filepath.Join(s.Dir, path)
			}
			found[path] = append(found[path], f)
		}
	})
	g.Strict = true
	_, _, err := plannedRun(ctx, quiet, root, g, generate.Options{DryRun: true, Strict: true, Within: g.Outside})
	if mistaken {
		err = ctx.Err() // the findings are the error, and the run after this one reports what is left of them
	}
	return found, err
}

// fixFile applies the fixes of a file, all or none of them. It leaves files outside the project alone, and those that
// are not as they were read.
func fixFile(s *operation.Session, folder *safefs.Folder, path string, findings []report.Finding) (bool, error) {
	name, below := folder.Below(path)
	if !below {
		return false, nil
	}
	if _, err := folder.Resolve(name); err != nil {
		return false, err
	}
	content, err := safefs.ReadFile(path)
	if err != nil {
		return false, err
	}
	fixed, applied, fits := applyFixes(content, findings)
	if !fits {
		s.Handler.Handle(report.Warning{Text: name + " has changed meanwhile, and is not fixed"})
		return false, nil
	}
	if err := folder.WriteFile(name, fixed); err != nil {
		return false, &report.Error{What: "the file cannot be written", Where: path, Err: err}
	}
	for _, f := range applied {
		s.Handler.Handle(report.Note{Text: fmt.Sprintf("fixed %s:%d: %s: %s → %s", s.FromHere(folder.Path(), name), f.Fix.Line, f.Rule, f.Fix.Replaces, f.Fix.Replacement)})
	}
	s.Handler.Handle(report.File{Path: name, Action: report.Updated, Why: operation.Count(len(applied), "replacement")})
	return true, nil
}

// applyFixes returns a file with the fixes of its findings, and those that were applied: of fixes that overlap the
// first one. Fits is false if the file does not have what one of them replaces.
func applyFixes(content []byte, findings []report.Finding) (fixed []byte, applied []report.Finding, fits bool) {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(a.Fix.Line, b.Fix.Line), cmp.Compare(a.Fix.Column, b.Fix.Column))
	})
	lines, done, last := bytes.SplitAfter(content, []byte("\n")), 0, 0 // done: lines; last: bytes of the next one
	for _, f := range findings {
		x := f.Fix
		if x.Line-1 < done || x.Line-1 == done && x.Column-1 < last {
			continue
		}
		if x.Line < 1 || x.Line > len(lines) || x.Column < 1 || x.EndColumn < x.Column || x.EndColumn-1 > len(lines[x.Line-1]) ||
			string(lines[x.Line-1][x.Column-1:x.EndColumn-1]) != x.Replaces {
			return content, nil, false
		}
		for ; done < x.Line-1; done, last = done+1, 0 {
			fixed = append(fixed, lines[done][last:]...)
		}
		fixed = append(append(fixed, lines[done][last:x.Column-1]...), x.Replacement...)
		last = x.EndColumn - 1
		applied = append(applied, f)
	}
	for ; done < len(lines); done, last = done+1, 0 {
		fixed = append(fixed, lines[done][last:]...)
	}
	return fixed, applied, true
}
