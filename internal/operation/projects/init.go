package projects

import (
	"context"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// A Project describes the project to create.
type Project struct {
	scaffold.Project
	LicenseFile string // file with the license header; "" means that of License.Name
	Fetch       bool   // download the modules that the project needs
	CheckGo     bool   // refuse a version of Go that is too old
	operation.Preview
}

// Init creates a project in the working folder, or completes one.
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
		func(bool) error { return afterInit(ctx, s, p) }) // also after a run that could not fetch them
}

func afterInit(ctx context.Context, s *operation.Session, p Project) error {
	if p.Fetch {
		if err := scaffold.Fetch(ctx, s.Dir, s.Handler); err != nil {
			return err
		}
	}
	s.Handler.Handle(report.Note{Text: "The project is ready. Next: slipway create api --group GROUP --version v1 --kind KIND"})
	return nil
}
