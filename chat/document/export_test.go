package document

// Parts is what Fields are made of.
var Parts = parts
