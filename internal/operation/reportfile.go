package operation

import (
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/report"
)

// CheckReportFile refuses a report's file whose folder is not there. Operations call it before the long work that the
// report is about. An empty file is none.
func (s *Session) CheckReportFile(flag, file string) error {
	if file == "" {
		return nil
	}
	folder := filepath.Dir(s.Absolute(file))
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return &report.Error{What: "the folder of the report is not there", Where: flag + " " + file, Hint: "make the folder " + folder, Code: report.UsageCode}
	}
	return nil
}
