package generate

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate/arguments"
)

// keepVersions gives CRDs the version that the files in their places name.
func keepVersions(files []File, view fileview.View) {
	for i := range files {
		f := &files[i]
		if f.source == nil || f.kept {
			continue
		}
		there, err := fileview.ReadPath(view, f.Path)
		if err != nil {
			continue // comparing reports it, and a new file has the usual version
		}
		before, version, after := cutVersion(f.Content)
		if _, other, _ := cutVersion(there); version != nil && other != nil && !bytes.Equal(version, other) {
			f.Content = bytes.Join([][]byte{before, other, after}, nil)
		}
	}
}

// cutVersion finds the version of the tool that a CRD names; it is nil if there is none.
func cutVersion(content []byte) (before, version, after []byte) {
	mark := []byte("\n    " + arguments.VersionAnnotation + ": ")
	at := bytes.Index(content, mark)
	if at < 0 {
		return content, nil, nil
	}
	begin := at + len(mark)
	end := bytes.IndexByte(content[begin:], '\n')
	if end < 0 {
		return content, nil, nil
	}
	return content[:begin], content[begin : begin+end], content[begin+end:]
}
