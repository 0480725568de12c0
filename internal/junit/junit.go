// Package junit writes reports in the form that JUnit gave reports of tests, which CI systems show.
package junit

import (
	"encoding/xml"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// A Suite is a report.
type Suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"` // cases with failures
	Time     float64  `xml:"time,attr"`     // seconds
	Cases    []Case   `xml:"testcase"`
}

// A Case is one thing that could go wrong.
type Case struct {
	Name     string    `xml:"name,attr"`
	Suite    string    `xml:"classname,attr"`
	Failures []Failure `xml:"failure"`
}

// A Failure says what went wrong.
type Failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Add adds a case.
func (s *Suite) Add(name string, failures ...Failure) {
	s.Tests++
	if len(failures) > 0 {
		s.Failures++
	}
	s.Cases = append(s.Cases, Case{Name: name, Suite: s.Name, Failures: failures})
}

// Write writes a report to a file.
func Write(file string, s Suite) error {
	text, err := xml.MarshalIndent(s, "", "  ")
	if err == nil {
		err = safefs.Write(file, append([]byte(xml.Header), append(text, '\n')...), 0o644)
	}
	if err != nil {
		return &report.Error{What: "the report cannot be written", Where: file, Err: err}
	}
	return nil
}
