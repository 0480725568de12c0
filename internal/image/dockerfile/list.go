package dockerfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"

	"github.com/slipway-dev/slipway/internal/recipe"
)

// The limits of what is copied into an image, of what is looked at for that, and of the patterns that say what is not
// copied.
const (
	maxListed   = 20_000
	maxWalked   = 10 * maxListed
	maxPatterns = 500
)

var (
	errListed = fmt.Errorf("the image would have more than %d files of the project", maxListed)
	errWalked = fmt.Errorf("more than %d files and folders would be looked at for the image", maxWalked)
	errLong   = errors.New("the path of a file in the image is too long")
)

// List lists the files and links that the image has of the project, each under its path, without what .dockerignore
// leaves out. Name is that of the Dockerfile below the project's folder, which may have an ignore file of its own.
func (r Recipe) List(files fs.FS, name string) ([]Copy, error) {
	if len(r.Files) == 0 {
		return nil, nil
	}
	ignored, err := readIgnored(files, name)
	if err != nil {
		return nil, err
	}
	all, walked := map[string]Copy{}, 0
	for _, c := range r.Files {
		n := 0
		err := fs.WalkDir(files, c.From, func(file string, entry fs.DirEntry, err error) error {
			if walked++; walked > maxWalked {
				return errWalked
			}
			if err != nil || entry.IsDir() {
				return err
			}
			if out, err := ignored.MatchesOrParentMatches(file); out || err != nil {
				return err
			}
			one := c
			one.From, one.To, one.dir = file, path.Join(c.To, strings.TrimPrefix(strings.TrimPrefix(file, c.From), "/")), false
			one.Follow = file == c.From
			if c.From == "." {
				one.To = path.Join(c.To, file)
			}
			if len(one.To) > maxPath {
				return errLong
			}
			all[one.To] = one
			if n++; len(all) > maxListed {
				return errListed
			}
			return nil
		})
		if err == nil && n == 0 {
			err = fmt.Errorf("%s: %w", c.From, errNothing)
		}
		if err != nil {
			return nil, err
		}
	}
	var list []Copy
	for _, c := range all {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Copy) int { return strings.Compare(a.To, b.To) })
	return list, nil
}

var errNothing = errors.New("there is nothing to copy, or .dockerignore leaves it out")

// readIgnored reads the patterns of files that are not copied.
func readIgnored(files fs.FS, dockerfile string) (*patternmatcher.PatternMatcher, error) {
	for _, name := range []string{dockerfile + ".dockerignore", ".dockerignore"} {
		if !fs.ValidPath(name) {
			continue
		}
		text, err := recipe.Read(files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		patterns, err := ignorefile.ReadAll(strings.NewReader(string(text)))
		if err == nil && len(patterns) > maxPatterns {
			err = fmt.Errorf("it has more than %d patterns", maxPatterns)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return patternmatcher.New(patterns)
	}
	return patternmatcher.New(nil)
}
