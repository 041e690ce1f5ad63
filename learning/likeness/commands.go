package likeness

const MaxPatternCommands = 4 // commands of a lesson whose failures are counted
