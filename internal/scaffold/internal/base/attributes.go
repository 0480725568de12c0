package base

// AttributesPath is where git's attributes of the base are, relative to the project.
const AttributesPath = ".slipway/.gitattributes"

// Attributes have git take both sides of a conflict in the base and leave its line ends alone, and hosts fold it up in
// reviews.
const Attributes = `# The record of what was scaffolded: git takes what either side of a merge has, and hosts hide it in reviews.
base -text merge=union linguist-generated gitlab-generated
`
