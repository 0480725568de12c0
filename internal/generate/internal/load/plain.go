package load

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// PlainFolder is a folder of a dependency with its files of no interest: they declare no type and hold no marker, or
// are left out of the build. Dependencies hardly change and such files are their largest, so a run remembers them for
// the next one, which does not read them again. A change in a file of a dependency settles no package. So a run that
// has settled packages may believe what is remembered of all dependencies.
type PlainFolder struct {
	Dir   string
	Files []PlainFile
}

// PlainFile is one of those files.
type PlainFile struct {
	Name      string
	Package   string `json:",omitempty"` // in its package clause
	Constants bool   `json:",omitempty"`
	LeftOut   bool   `json:",omitempty"` // of the build
}

// plainFiles are the files by path.
func plainFiles(folders []PlainFolder) map[string]PlainFile {
	files := make(map[string]PlainFile)
	for _, folder := range folders {
		for _, f := range folder.Files {
			files[filepath.Join(folder.Dir, f.Name)] = f
		}
	}
	return files
}

// remembered is what the last run found in a file; known is false where it has to be read.
func (l *Loader) remembered(path string) (s *source, known bool) {
	f, known := l.plain[path]
	if !known {
		return nil, false
	}
	if f.LeftOut {
		l.leaveOut(path)
		return nil, true
	}
	return &source{path: path, name: f.Package, constants: f.Constants}, true
}

// leaveOut notes that build constraints leave a file out of its package.
func (l *Loader) leaveOut(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leftOut[path] = true
}

// Plain are the folders of dependencies that this run and the one before have read, by name. Call it when the
// generators are done.
func (l *Loader) Plain() []PlainFolder {
	byDir := make(map[string][]PlainFile)
	for _, folder := range l.config.Plain {
		byDir[folder.Dir] = folder.Files
	}
	for _, p := range l.dependencies() {
		if files := p.plainFiles(); len(files) > 0 {
			byDir[p.Dir] = files
		}
	}
	var folders []PlainFolder
	for dir, files := range byDir {
		folders = append(folders, PlainFolder{dir, files})
	}
	slices.SortFunc(folders, func(a, b PlainFolder) int { return strings.Compare(a.Dir, b.Dir) })
	return folders
}

// dependencies are the packages whose files were chosen and that are not worked on.
func (l *Loader) dependencies() []*Package {
	l.mu.Lock()
	defer l.mu.Unlock()
	var read []*Package
	for _, p := range l.packages {
		if len(p.sources) > 0 && !p.Local() {
			read = append(read, p)
		}
	}
	return read
}

// plainFiles are the files of no interest among those of p that were read.
func (p *Package) plainFiles() []PlainFile {
	var files []PlainFile
	for _, s := range p.sources {
		if !s.interesting {
			files = append(files, PlainFile{Name: filepath.Base(s.path), Package: s.name, Constants: s.constants})
		}
	}
	for _, path := range p.leftOut {
		files = append(files, PlainFile{Name: filepath.Base(path), LeftOut: true})
	}
	slices.SortFunc(files, func(a, b PlainFile) int { return cmp.Compare(a.Name, b.Name) })
	return files
}
