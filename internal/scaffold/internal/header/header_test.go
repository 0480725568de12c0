package header

import "testing"

func TestComment(t *testing.T) {
	tests := []struct {
		license License
		want    string
	}{
		{License{Year: 2026}, "// Copyright 2026 The op authors\n// SPDX-License-Identifier: Apache-2.0"},
		{License{Year: 2026, Owner: "Jane", Name: "apache2"}, "// Copyright 2026 Jane\n// SPDX-License-Identifier: Apache-2.0"},
		{License{Name: "none"}, ""},
		{License{Text: "/* mine */\n"}, "/* mine */"},
		{License{Text: "two\r\n\r\nlines\n"}, "// two\n//\n// lines"},
	}
	for _, test := range tests {
		got, err := test.license.Comment("op")
		if err != nil || got != test.want {
			t.Errorf("%+v gives %q, %v", test.license, got, err)
		}
	}
}

// TestCommentRefused: a header that would break every Go file is refused.
func TestCommentRefused(t *testing.T) {
	for _, o := range []License{
		{Text: "/* no end"},
		{Text: "// a comment\nand what is none"},
		{Text: "/* a comment */ package other"},
		{Owner: "Jane\nDoe", Year: 2026},
	} {
		if got, err := o.Comment("op"); err == nil {
			t.Errorf("%+v gives %q", o, got)
		}
	}
}
