package projects

import (
	"os"
	"time"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/internal/sourcedate"
)

// A License describes the license header of new Go files.
type License struct {
	Name  string // apache2 or none
	File  string // file with another header
	Owner string // copyright holder
}

// license converts a License to that of package scaffold.
func license(s *operation.Session, l License) (scaffold.License, error) {
	license := scaffold.License{Name: l.Name, Owner: l.Owner}
	var err error
	if l.File != "" {
		if license.Text, err = readLicense(s, l.File); err != nil {
			return license, err
		}
	}
	license.Year, err = year(s)
	return license, err
}

// year returns the copyright year: that of SOURCE_DATE_EPOCH, for reproducible projects, else the current one.
func year(s *operation.Session) (int, error) {
	when, set, err := sourcedate.Read(s.Getenv)
	if !set {
		when = time.Now()
	}
	return when.Year(), err
}

func readLicense(s *operation.Session, name string) (string, error) {
	data, err := os.ReadFile(s.Absolute(name))
	if err != nil {
		return "", &report.Error{What: "the license header cannot be read", Where: "--license-file", Hint: "name a text file for the top of Go files", Err: err}
	}
	return string(data), nil
}
