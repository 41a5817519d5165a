"""What the program says about itself: journal, self metrics, the dry run's summary.

Here values of the other floors are put into words and numbers. Decisions never enter: nothing here
changes what is scraped or sent. Serving the self metrics is ``cwgpu.web``.
"""
