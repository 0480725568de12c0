package codebase

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// HeaderFile is the usual file of what Go files begin with.
const HeaderFile = "hack/boilerplate.go.txt"

// A Header is what the project's Go files begin with.
type Header struct {
	// File has it: that of the first call which has code begin with a file that is there, else [HeaderFile]. It is ""
	// where none is there.
	File string
	Year string // that generators replace the word YEAR by; "" without one
	Text string // as generators write it, with the year
}

// License is the header of the project's Go files. Its error is that its file, or one that says which it is, cannot be
// read.
func (c *Codebase) License() (Header, error) { return c.license() }

func (c *Codebase) readLicense() (Header, error) {
	generation, err := c.Generation()
	if err != nil {
		return Header{}, err
	}
	for _, h := range append(generation.Headers(), Header{File: HeaderFile}) {
		if there, err := fileview.Exists(c.view, h.File); err != nil || !there {
			continue
		}
		text, err := c.view.ReadFile(h.File)
		if err != nil {
			return Header{}, &report.Error{What: "the file cannot be read", Where: h.File, Err: err}
		}
		h.Text = string(text)
		if h.Year != "" {
			h.Text = strings.ReplaceAll(h.Text, " YEAR", " "+h.Year)
		}
		return h, nil
	}
	return Header{}, nil
}

// Headers are the files of headers that calls have generated code begin with, relative to the project unless absolute,
// and the usual one where it is there.
func (c *Codebase) Headers() (files []string, err error) {
	generation, err := c.Generation()
	for _, h := range generation.Headers() {
		files = append(files, h.File)
	}
	if there, missing := fileview.Exists(c.view, HeaderFile); there && missing == nil && !slices.Contains(files, HeaderFile) {
		files = append(files, HeaderFile)
	}
	return files, err
}

// Headers are those that calls have generated code begin with, without their text.
func (g Generation) Headers() (headers []Header) {
	for call, use := range g.uses {
		name := use.Option("headerFile")
		if name == "" || use.Name != "object" && use.Name != "applyconfiguration" {
			continue
		}
		if name = filepath.ToSlash(name); !path.IsAbs(name) && !filepath.IsAbs(name) {
			name = path.Join(call.Dir, name)
		}
		if !slices.ContainsFunc(headers, func(h Header) bool { return h.File == name }) {
			headers = append(headers, Header{File: name, Year: use.Option("year")})
		}
	}
	return headers
}
