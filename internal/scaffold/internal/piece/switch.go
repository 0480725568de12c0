package piece

import (
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
)

// A Switch is a section that is an item on one line. It is added where it is not there, not even in a comment.
type Switch struct {
	Item
	Section
}

// Put adds the text where it is missing.
func (s Switch) Put(file string, src []byte) ([]byte, error) {
	switch off, on := s.Lines(src); {
	case len(on) > 0:
		return src, nil
	case len(off) > 0:
		return s.On(file, src)
	}
	out, err := s.Item.Put(file, src)
	if err != nil {
		return nil, &report.Error{
			What: fmt.Sprintf("there is no list `%s:` for %s", s.List, s.Name), Where: fmt.Sprintf("%s:%d", file, len(readLists(src).lines)),
			Hint: fmt.Sprintf("nothing was changed; insert this and run the command again:\n%s:\n- %s", s.List, s.Name),
		}
	}
	return out, nil
}
