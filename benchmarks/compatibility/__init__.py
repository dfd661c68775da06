"""Do projects as they are laid out in the wild work, with each google-adk that we run?"""
