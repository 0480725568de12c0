package base

import (
	"errors"
	"io/fs"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
)

// Read reads the base of a project; a project without one,
// which another tool made, has an empty base.
func Read(files fs.ReadFileFS) (*Base, error) {
	data, err := files.ReadFile(Path)
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

// damaged says what is wrong with a base, and how to go on: with an earlier one, or without it.
func damaged(syntax *SyntaxError) *report.Error {
	where := report.Position{File: Path, Line: syntax.Line}
	return &report.Error{
		What: "the record of the scaffold is damaged", Where: where.String(), Err: syntax,
		Hint: "nothing was changed. To go on, restore the version of the last commit, or of an earlier one, or remove the record: rm " + Path + ". " +
			"Without the record no file is lost. But slipway then cannot distinguish your edits from text of its earlier versions: " +
			"delete keeps files that differ from those of this version, and helm refuses such a chart",
		Next: "git checkout HEAD -- " + Path,
	}
}
