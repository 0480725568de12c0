package base

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/git"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
)

// Read reads the base of the project in folder root; a project without one,
// which another tool made, has an empty base.
func Read(root string) (*Base, error) {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(Path)))
	if errors.Is(err, fs.ErrNotExist) {
		return New(), nil
	}
	if err != nil {
		return nil, fileerror.Unreadable(Path, err)
	}
	b, err := Parse(data)
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, damaged(syntax)
	}
	if newer, ok := errors.AsType[*VersionError](err); ok {
		return nil, &report.Error{
			What: "a newer slipway wrote the record of the scaffold", Where: Path + ":1",
			Hint: newer.Error() + ", and this slipway reads version 1; nothing was changed",
			Next: "git clone https://github.com/slipway-dev/slipway ../slipway && go install -C ../slipway ./cmd/slipway", Err: err,
		}
	}
	return b, err
}

// without is what a project is without its base.
const without = "Without the record no file is lost. But slipway then cannot distinguish your edits from text of its earlier versions: " +
	"delete keeps files that differ from those of this version, and helm refuses such a chart"

// damaged says what is wrong with a base, and how to go on without it.
func damaged(syntax *SyntaxError) *report.Error {
	return remedy(syntax, "remove the record. "+without, "rm "+Path)
}

func remedy(syntax *SyntaxError, hint, next string) *report.Error {
	where := report.Position{File: Path, Line: syntax.Line}
	return &report.Error{What: "the record of the scaffold is damaged", Where: where.String(), Hint: "nothing was changed. To go on, " + hint, Next: next, Err: syntax}
}

// Remedy makes the error of a damaged base one that says which version of it git can restore, if there is one. Any
// other error stays as it is.
func Remedy(ctx context.Context, root string, err error) error {
	syntax, ok := errors.AsType[*SyntaxError](err)
	if !ok {
		return err
	}
	commit, date := lastReadable(ctx, root)
	switch commit {
	case "":
		return err
	case "HEAD":
		return remedy(syntax, "restore the version of the last commit", "git checkout HEAD -- "+Path)
	}
	return remedy(syntax, "restore the last readable version, of "+date+". Files that were scaffolded later count as edited: "+
		"delete keeps them if they differ from those of this version", "git checkout "+commit+" -- "+Path)
}

// lastReadable is the last commit whose base can be read, and its date; "" if there is none.
func lastReadable(ctx context.Context, root string) (commit, date string) {
	if readable(ctx, root, "HEAD") {
		return "HEAD", ""
	}
	out, err := git.Output(ctx, root, "log", "--format=%h %cs", "--max-count=100", "--", Path)
	if err != nil {
		return "", ""
	}
	for found := range strings.Lines(string(out)) {
		commit, date, _ = strings.Cut(strings.TrimSpace(found), " ")
		if readable(ctx, root, commit) {
			return commit, date
		}
	}
	return "", ""
}

// readable reports whether a commit has a base that can be read.
func readable(ctx context.Context, root, commit string) bool {
	blob := commit + ":./" + Path
	text, err := git.Output(ctx, root, "cat-file", "-s", blob)
	if err != nil {
		return false
	}
	// A few bytes of a repository may stand for any number.
	if size, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err != nil || size > maxSize {
		return false
	}
	data, err := git.Output(ctx, root, "cat-file", "blob", blob)
	if err != nil {
		return false
	}
	_, err = Parse(data)
	return err == nil
}
