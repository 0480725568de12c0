package base

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/lines"
)

var (
	errTag      = errors.New("it does not begin with the tag of a line")
	errQuoted   = errors.New("its quoted text cannot be read")
	errNoFile   = errors.New("the first line of its file is missing")
	errBegin    = errors.New("it does not begin a file: its id or path is missing")
	errTwice    = errors.New("another file has the same id")
	errOutside  = errors.New("its file is outside the project")
	errLarge    = fmt.Errorf("it holds more than %d MiB", maxSize>>20)
	errLines    = fmt.Errorf("it has more than %d lines", mostLines)
	errFiles    = fmt.Errorf("it has more than %d files", mostFiles)
	errTags     = fmt.Errorf("its file has lines of more than %d tags, far more than changes give it", mostTags)
	errCutOff   = errors.New("its last line is missing: the file is truncated")
	errNoHeader = fmt.Errorf("it is not the first line of a base, which begins with %q", magic)
)

// A SyntaxError reports why a base cannot be read.
type SyntaxError struct {
	Line int // 0 if the error concerns the whole file
	Err  error
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// A VersionError reports a base in an unknown format.
type VersionError struct{ Version string }

func (e *VersionError) Error() string { return "its format has the version " + e.Version }

// Parse reads a base. It accepts what merges leave, conflicts and duplicate files, and takes both sides.
func Parse(data []byte) (*Base, error) {
	if len(data) > maxSize {
		return nil, &SyntaxError{Err: errLarge}
	}
	all, err := split(data)
	if err != nil {
		return nil, err
	}
	merged := &merging{}
	rows, err := merged.resolveConflicts(all)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !strings.HasPrefix(rows[0].text, magic) {
		return nil, &SyntaxError{1, errNoHeader}
	}
	if version, _, _ := strings.Cut(rows[0].text[len(magic):], ":"); version != "1" {
		return nil, &VersionError{version}
	}
	if last := rows[len(rows)-1]; last.text != footer {
		return nil, &SyntaxError{last.number, errCutOff}
	}
	r := &reader{merging: merged, paths: map[string]string{}, files: map[string][]occurrence{}, tags: map[string]map[string]bool{}}
	if err := r.read(rows[1:]); err != nil {
		return nil, err
	}
	b, err := r.base()
	if err != nil {
		return nil, err
	}
	b.stale = !bytes.Equal(b.Encode(), data)
	return b, nil
}

// A row is a line of the base without its line end.
type row struct {
	number int
	text   string
}

// split returns the non-empty rows. Line ends of the base itself do not matter: version control may change them, and
// those of recorded lines are implied or quoted.
func split(data []byte) ([]row, error) {
	var rows []row
	for i, text := range lines.Split(data) {
		if text = strings.TrimRight(text, "\r\n"); text != "" {
			rows = append(rows, row{i + 1, text})
		}
		if len(rows) > mostLines {
			return nil, &SyntaxError{i + 1, errLines}
		}
	}
	return rows, nil
}

type reader struct {
	*merging
	paths map[string]string // by id
	// files has the sections of each file, by path. A merge may leave several of one file.
	files map[string][]occurrence
	tags  map[string]map[string]bool // of a file's lines, by path
}

// An occurrence is one section of a file.
type occurrence struct {
	number int
	lines  []line
}

func (r *reader) read(rows []row) error {
	for _, row := range rows { // first, since a merge may put lines above the section's first line
		if id, path, ok := strings.Cut(strings.TrimPrefix(row.text, section), " "); strings.HasPrefix(row.text, section) {
			if err := r.declare(id, path, ok); err != nil {
				return &SyntaxError{row.number, err}
			}
		}
	}
	for _, row := range rows {
		var err error
		switch {
		case strings.HasPrefix(row.text, section):
			id, _, _ := strings.Cut(row.text[len(section):], " ")
			path := r.paths[id]
			r.files[path] = append(r.files[path], occurrence{number: row.number})
		case row.text == footer, strings.HasPrefix(row.text, magic): // repeated by a merge
		default:
			err = r.line(row)
		}
		if err != nil {
			return &SyntaxError{row.number, err}
		}
	}
	return nil
}

// declare records the path of an id.
func (r *reader) declare(id, path string, ok bool) error {
	path, err := unquotedPath(path)
	switch known, twice := r.paths[id]; {
	case err != nil:
		return err
	case !ok || len(id) != idLength:
		return errBegin
	case !filepath.IsLocal(filepath.FromSlash(path)):
		return errOutside
	case twice && known != path:
		return errTwice
	case len(r.paths) >= mostFiles && !twice:
		return errFiles
	}
	r.paths[id] = path
	return nil
}

func (r *reader) line(row row) error {
	text := row.text
	if len(text) < idLength+tagLength {
		return errTag
	}
	content, err := unquoted(text[idLength+tagLength:])
	if err != nil {
		return err
	}
	path, ok := r.paths[text[:idLength]]
	if !ok {
		return errNoFile
	}
	times := r.files[path]
	if len(times) == 0 {
		times = append(times, occurrence{number: row.number})
	}
	last, tag := &times[len(times)-1], text[idLength:idLength+tagLength]
	if n := len(last.lines); (n == 0 || last.lines[n-1].tag != tag) && !r.addTag(path, tag) {
		return errTags
	}
	last.lines = append(last.lines, line{tag, content})
	r.files[path] = times
	return nil
}

// addTag adds a tag to those of a file, and reports whether they are within [mostTags].
func (r *reader) addTag(path, tag string) bool {
	if r.tags[path] == nil {
		r.tags[path] = map[string]bool{}
	}
	r.tags[path][tag] = true
	return len(r.tags[path]) <= mostTags
}

// base combines the sections of each file.
func (r *reader) base() (*Base, error) {
	b := New()
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		times := r.files[path]
		all := times[0].lines
		for _, again := range times[1:] {
			if err := r.admit(len(all)+len(again.lines), again.number); err != nil {
				return nil, err
			}
			all = union(all, again.lines, func(l line) string { return l.tag + l.text })
		}
		b.files[path] = newFile(all)
	}
	return b, nil
}

// newFile returns a file with these lines. If a merge appended to a line without an end, newFile adds the end.
func newFile(all []line) *file {
	var texts []string
	for i, l := range all {
		if i < len(all)-1 && !strings.HasSuffix(l.text, "\n") {
			all[i].text += "\n"
		}
		texts = append(texts, all[i].text)
	}
	return &file{all, lines.Join(texts)}
}

// Read reads the base of a project. A project without one, which another tool made, has an empty base.
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
			Class: report.BadProject,
			What:  "a newer slipway wrote the record of the scaffold", Where: Path + ":1",
			Hint: newer.Error() + ", and this slipway reads version 1; nothing was changed",
			Next: "git clone https://github.com/slipway-dev/slipway ../slipway && go install -C ../slipway ./cmd/slipway", Err: err,
		}
	}
	return b, err
}

// damaged explains a damaged base, and how to continue without it.
func damaged(syntax *SyntaxError) *report.Error {
	where := report.Position{File: Path, Line: syntax.Line}
	return &report.Error{
		Class: report.BadProject,
		What:  "the record of the scaffold is damaged", Where: where.String(), Err: syntax,
		Hint: "nothing was changed. To go on, restore the version of the last commit, or of an earlier one, or remove the record: rm " + Path + ". " +
			"Without the record no file is lost. But slipway then cannot distinguish your edits from text of its earlier versions: " +
			"delete keeps files that differ from those of this version, and helm refuses such a chart",
		Next: "git checkout HEAD -- " + Path,
	}
}
