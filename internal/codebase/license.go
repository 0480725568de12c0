package codebase

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// HeaderFile is the layouts' file with the header of Go files.
const HeaderFile = "hack/boilerplate.go.txt"

// A Header is the license header of the project's Go files.
type Header struct {
	// File holds the header: the first existing headerFile option of a call, else [HeaderFile]. It is "" if neither
	// exists.
	File string
	Year string // replaces the word YEAR; "" keeps it
	Text string // with the year replaced
}

// License returns the header of the project's Go files. The error is that its file, or one with a headerFile option,
// cannot be read.
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
			return Header{}, &report.Error{Class: report.BadProject, What: "the file cannot be read", Where: h.File, Err: err}
		}
		h.Text = string(text)
		if h.Year != "" {
			h.Text = strings.ReplaceAll(h.Text, " YEAR", " "+h.Year)
		}
		return h, nil
	}
	return Header{}, nil
}

// Headers returns the header files that calls name and the layouts' one if it exists. Paths are relative to the
// project, or absolute.
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

// Headers returns the headers that calls name, without Text.
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
