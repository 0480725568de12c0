package tools

import (
	"context"
	"errors"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/download"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

// CheckedVersion compares this slipway with the newest release; the JSON form is stable.
type CheckedVersion struct {
	operation.Version
	Newest string `json:"newest"`
	Newer  bool   `json:"newer"` // Newest is newer than this slipway
}

// CheckVersion asks the release host whether there is a newer release.
func CheckVersion(ctx context.Context, s *operation.Session) (CheckedVersion, error) {
	return checkVersion(ctx, s, release.Stamped())
}

func checkVersion(ctx context.Context, s *operation.Session, stamp release.Stamp) (CheckedVersion, error) {
	own := operation.ReadVersion()
	from, err := download.Open(s.Getenv, stamp, s.Handler)
	switch {
	case errors.Is(err, download.ErrOff):
		return CheckedVersion{}, &report.Error{What: "the newest release is not asked for", Where: download.Variable, Err: err, Next: "env -u " + download.Variable + " slipway version --check"}
	case errors.Is(err, release.ErrNoKey):
		return CheckedVersion{}, &report.Error{What: "the newest release cannot be checked", Where: own.Version, Err: err,
			Hint: "a slipway from an archive or a package of a release has one; this one was compiled from sources"}
	case err != nil:
		return CheckedVersion{}, err
	}
	s.Handler.Handle(report.Step{Name: "asking for the newest release"})
	newest, err := from.Newest(ctx)
	if err != nil {
		return CheckedVersion{}, err
	}
	c := CheckedVersion{Version: own, Newest: newest, Newer: semver.Compare(newest, own.Version) > 0}
	s.Handler.Handle(report.Result{Text: c.String(), Value: c})
	return c, nil
}

// String returns the text for a terminal.
func (c CheckedVersion) String() string {
	if !c.Newer {
		return c.Version.String() + "\nno release is newer: the newest one is " + c.Newest
	}
	return c.Version.String() + "\n" + c.Newest + " is newer: go install " + release.Module + "/cmd/slipway@" + c.Newest + ", or the package of it that you have installed"
}
