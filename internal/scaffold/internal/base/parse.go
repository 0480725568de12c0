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

// Why a line cannot be read.
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

// A SyntaxError is why a base cannot be read.
type SyntaxError struct {
	Line int // 0 when it is about the file as a whole
	Err  error
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// A VersionError is a base in a format that this slipway does not know.
type VersionError struct{ Version string }

func (e *VersionError) Error() string { return "its format has the version " + e.Version }

// Parse reads a base as it is written, or with conflicts of a merge or files that a merge has put there twice, of which
// it takes both sides.
func Parse(data []byte) (*Base, error) {
	if len(data) > maxSize {
		return nil, &SyntaxError{Err: errLarge}
	}
	all, err := split(data)
	if err != nil {
		return nil, err
	}
	merged := &merging{}
	rows, err := merged.settle(all)
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

// A row is a line of the base itself, without its end.
type row struct {
	number int
	text   string
}

// split are the rows of a text. Line ends that version control has changed are none of the base's, which quotes its
// own.
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

// A reader reads rows into files.
type reader struct {
	*merging
	paths map[string]string // by ids
	// files are by their paths all times that a file begins: more than one when a merge has put it there again.
	files map[string][]occurrence
	tags  map[string]map[string]bool // of a file's lines, by its path
}

// An occurrence is one time that a file begins, in a line of the base.
type occurrence struct {
	number int
	lines  []line
}

func (r *reader) read(rows []row) error {
	for _, row := range rows { // first, since a merge may have put lines above the beginning of their file
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
		case row.text == footer, strings.HasPrefix(row.text, magic): // once more, after a merge
		default:
			err = r.line(row)
		}
		if err != nil {
			return &SyntaxError{row.number, err}
		}
	}
	return nil
}

// declare notes the id of a file.
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

// line adds a line to the file of its id.
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
	if n := len(last.lines); (n == 0 || last.lines[n-1].tag != tag) && !r.knows(path, tag) {
		return errTags
	}
	last.lines = append(last.lines, line{tag, content})
	r.files[path] = times
	return nil
}

// knows takes a tag for one of a file's, unless it has too many.
func (r *reader) knows(path, tag string) bool {
	if r.tags[path] == nil {
		r.tags[path] = map[string]bool{}
	}
	r.tags[path][tag] = true
	return len(r.tags[path]) <= mostTags
}

// base puts together what was read.
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

// newFile is a file with these lines. Where a merge has put others behind a last line that had no end, it gets one.
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
