"""A campaign that kills writers at any moment and looks at what they leave behind."""
