package projects

import (
	"context"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Project is which project to begin.
type Project struct {
	scaffold.Project
	LicenseFile string // with the license header; empty means the one that License.Name names
	Fetch       bool   // the modules that the project needs
	CheckGo     bool   // refuse a version of Go that is too old
	operation.Preview
}

// Init begins a project in the working folder, or completes it.
func Init(ctx context.Context, s *operation.Session, p Project) ([]report.File, error) {
	var err error
	if p.LicenseFile != "" {
		if p.License.Text, err = readLicense(s, p.LicenseFile); err != nil {
			return nil, err
		}
	}
	p.CLIVersion = operation.OwnRelease()
	if p.License.Year, err = year(s); err != nil {
		return nil, err
	}
	if p.CheckGo {
		if err := scaffold.CheckGo(ctx, s.Dir); err != nil {
			return nil, err
		}
	}
	return changeAndThen(ctx, s, s.Dir, p.Preview,
		func() (*scaffold.Plan, error) { return scaffold.Init(s.Folder(s.Dir), p.Project) },
		func(bool) error { return afterInit(ctx, s, p) }) // modules also where an earlier try could not fetch them
}

// afterInit fetches the modules that the project needs.
func afterInit(ctx context.Context, s *operation.Session, p Project) error {
	if p.Fetch {
		if err := scaffold.Fetch(ctx, s.Dir, s.Handler); err != nil {
			return err
		}
	}
	s.Handler.Handle(report.Note{Text: "The project is ready. Next: slipway create api --group GROUP --version v1 --kind KIND"})
	return nil
}
