package inflection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// lexicon is what a user adds to the tables.
type lexicon struct {
	plurals  map[string]string
	acronyms []string
}

// A userFile is named by a variable; without that it is a file of the working folder.
type userFile struct{ variable, name string }

// In the first is an object of JSON with plurals by singulars, in the second a list of acronyms in capitals.
var (
	pluralsFile  = userFile{"INFLECT_PATH", "inflections.json"}
	acronymsFile = userFile{"ACRONYMS_PATH", "acronyms.json"}
)

// path is empty if the variable is set to nothing, which asks for no file.
func (f userFile) path() string {
	if path, isSet := os.LookupEnv(f.variable); isSet {
		return path
	}
	return f.name
}

// Files are the absolute paths of the user's files, whether they are there or not.
func Files() ([]string, error) {
	var paths []string
	for _, f := range []userFile{acronymsFile, pluralsFile} {
		if f.path() == "" {
			continue
		}
		path, err := filepath.Abs(f.path())
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// own is what the user of this process adds. It is read when the first plural is asked for. A file that cannot be used
// adds nothing, as for controller-gen; [Check] says why.
var own = sync.OnceValue(func() lexicon {
	l, _ := read()
	return l
})

// Check returns why one of the user's files cannot be used.
func Check() error {
	_, err := read()
	return err
}

func read() (lexicon, error) {
	var l lexicon
	pluralsErr := pluralsFile.decode(&l.plurals)
	if pluralsErr == nil {
		pluralsErr = l.checkPlurals()
	}
	if pluralsErr != nil {
		l.plurals = nil
	}
	acronymsErr := acronymsFile.decode(&l.acronyms)
	if acronymsErr != nil {
		l.acronyms = nil
	}
	return l, errors.Join(pluralsErr, acronymsErr)
}

// decode reads the value that the file begins with. A file that is not there has none.
func (f userFile) decode(value any) error {
	text, err := safefs.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path(), err)
	}
	return nil
}

var errSpace = errors.New("a singular or plural has a space in it")

func (l lexicon) checkPlurals() error {
	for singular, plural := range l.plurals {
		if strings.Contains(singular+plural, " ") {
			return fmt.Errorf("%q: %q: %w", singular, plural, errSpace)
		}
	}
	return nil
}
