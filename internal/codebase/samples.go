package codebase

import (
	"path"
	"strings"
)

// Limits of what is looked at for samples.
const (
	mostSamples   = 1000
	samplesFolder = "config"
)

// Samples are the files with objects for a running operator, in folders such as config/samples and in those below.
func (c *Codebase) Samples() (files []string) {
	entries, err := c.view.ReadDir(samplesFolder)
	if err != nil {
		return nil // there is none
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() && IsSamples(e.Name()) {
			folders = append(folders, path.Join(samplesFolder, e.Name()))
		}
	}
	for i := 0; i < len(folders) && len(folders)+len(files) < mostSamples; i++ {
		entries, err := c.view.ReadDir(folders[i])
		if err != nil {
			continue // what cannot be read has no samples
		}
		for _, e := range entries {
			name := path.Join(folders[i], e.Name())
			extension := path.Ext(e.Name())
			switch {
			case e.IsDir():
				folders = append(folders, name)
			case (extension == ".yaml" || extension == ".yml") && !strings.HasPrefix(strings.ToLower(e.Name()), "kustomization."):
				files = append(files, name)
			}
		}
	}
	return files
}
